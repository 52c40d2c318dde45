const REQUEST_MILLISECONDS = 30_000;
const API = '../api/v1/';
const viewerData = byId('viewer').dataset;

// Sends a request with the session of the reader. Returns the response, also one of 304 and 412.
async function send(path, { method = 'GET', headers = {}, body } = {}) {
  const signal = AbortSignal.timeout(REQUEST_MILLISECONDS);
  const type = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const settings = { method, headers: { ...type, ...headers }, body: body && JSON.stringify(body), signal, cache: 'no-store' };
  const response = await fetch(path, settings).catch(() => {
    throw new Problem('The server cannot be reached. Check the connection.');
  });
  const { ok, status } = response;
  if (!ok && ![304, 412].includes(status)) throw setFields(new Problem(await explain(response)), { status });
  return response;
}

async function explain(response) {
  if (response.status === 401) return 'Your session has ended. Load the page again to log in.';
  const seconds = Number(response.headers.get('Retry-After'));
  if (seconds > 0) return `The server is busy. Try again in ${plural(seconds, 'second')}.`;
  const { error } = await response.json().catch(() => ({}));
  return error ?? `The server could not answer (error ${response.status}).`;
}

const ask = async (path, settings) => (await (await send(API + path, settings)).json()).data;

const ofNetwork = (more = {}) => new URLSearchParams({ network_id: viewerData.networkId, ...more });

// Runs what a button starts. A failure is shown, and nothing of it is thrown.
async function attempt(action) {
  try {
    return await action();
  } catch (error) {
    if (!(error instanceof Problem)) console.error(error);
    announce(error instanceof Problem ? error.message : 'This did not work. Load the page again.', true);
    return null;
  }
}

// Connects a dialog with the button that opens it. Another button in it closes it.
function connectDialog(name, fill) {
  const dialog = byId(name);
  onClick(`open-${name}`, () => {
    dialog.showModal();
    attempt(fill);
  });
  onClick(`close-${name}`, () => dialog.close());
  return dialog;
}
