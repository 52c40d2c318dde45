//! The handle of a kind of records: the operations of the engine.

use std::fmt;
use std::marker::PhantomData;

use crate::inventory::Inventory;

/// The records of one kind.
///
/// Every method takes the [`Caller`](crate::access::Caller) for whom it acts. The caller sees and changes records of its
/// own organization only, those on networks only within its scope.
///
/// ```
/// # use toposcope::access::{Caller, Scope};
/// # use toposcope::inventory::ListQuery;
/// # use toposcope::model::{Permission, Tag, UserId};
/// # use toposcope::{Inventory, MemoryStore};
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), toposcope::inventory::Error> {
/// # let inventory = Inventory::new(MemoryStore::new());
/// # let organization = inventory.organizations().create("Example").await?;
/// # let caller = Caller::new(organization.id, UserId::nil(), Permission::Admin, Scope::all());
/// let tags = inventory.tags();
/// let tag = tags.create(&caller, Tag::new("critical")).await?;
/// let page = tags.list(&caller, &ListQuery::default()).await?;
/// assert_eq!((page.records, page.total), (vec![tag], 1));
/// # Ok(())
/// # }
/// ```
pub struct Collection<'a, T> {
    pub(in crate::inventory) inventory: &'a Inventory,
    kind: PhantomData<fn() -> T>,
}

impl Inventory {
    /// The records of one kind, for code that is generic in it. The handles of the kinds have more methods.
    #[must_use]
    pub const fn records<T>(&self) -> Collection<'_, T> {
        Collection { inventory: self, kind: PhantomData }
    }
}

impl<T> Clone for Collection<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Collection<'_, T> {}

impl<T> fmt::Debug for Collection<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Collection").field("inventory", self.inventory).finish()
    }
}

/// Defines a handle, a small value with the operations of one capability, and the method of [`Inventory`] that returns it.
///
/// The handle of a kind of records has the methods of its [`Collection`] as well.
macro_rules! handle {
    ($(#[$attribute:meta])* pub struct $name:ident = $method:ident;) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a> {
            pub(in crate::inventory) inventory: &'a $crate::inventory::Inventory,
        }

        impl $crate::inventory::Inventory {
            $(#[$attribute])*
            #[must_use]
            pub const fn $method(&self) -> $name<'_> {
                $name { inventory: self }
            }
        }
    };
    ($(#[$attribute:meta])* pub struct $name:ident($record:ty) = $method:ident;) => {
        $(#[$attribute])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name<'a>($crate::inventory::Collection<'a, $record>);

        impl $crate::inventory::Inventory {
            $(#[$attribute])*
            #[must_use]
            pub const fn $method(&self) -> $name<'_> {
                $name(self.records())
            }
        }

        impl<'a> std::ops::Deref for $name<'a> {
            type Target = $crate::inventory::Collection<'a, $record>;

            fn deref(&self) -> &Self::Target {
                &self.0
            }
        }
    };
}

pub(in crate::inventory) use handle;
