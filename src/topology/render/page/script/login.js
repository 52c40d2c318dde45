// The login form. Password and session are in no storage of the page: the server sets the cookie.
const byId = (id) => document.getElementById(id);
const form = byId('login-form');
const [email, password, submit, problem] = ['email', 'password', 'log-in', 'problem'].map(byId);

function explain(status, seconds) {
  const later = seconds > 0 ? `in ${seconds} seconds` : 'later';
  if (status === 401 || status === 403) return 'The e-mail address or the password is wrong.';
  if (status === 429) return `There were too many attempts. Try again ${later}.`;
  if (status === 503) return `The server is busy. Try again ${later}.`;
  return `The server could not answer (error ${status}). Try again later.`;
}

// A list of the organizations in which the password is right.
let organizations = null;

function askForOrganization(choices) {
  organizations?.parentElement.remove();
  organizations = document.createElement('select');
  organizations.append(...choices.map(({ id, name }) => new Option(name, id)));
  const label = document.createElement('label');
  label.append('Organization', organizations);
  submit.before(label);
  organizations.focus();
  return 'You belong to several organizations. Choose one, then log in.';
}

async function logIn() {
  const organization_id = organizations?.value;
  const body = JSON.stringify({ email: email.value, password: password.value, organization_id });
  const headers = { 'Content-Type': 'application/json' };
  const response = await fetch('../api/auth/login', { method: 'POST', headers, body, cache: 'no-store' });
  const { params } = response.status === 409 ? await response.json() : {};
  if (params?.organizations) return askForOrganization(params.organizations);
  if (!response.ok) return explain(response.status, Number(response.headers.get('Retry-After')));
  // Browsers do not store a cookie that is only for HTTPS when it arrives without.
  const page = await fetch(location.href, { method: 'HEAD', cache: 'no-store' });
  if (page.status === 401) return 'The browser did not keep the session. Open this page over HTTPS, and allow cookies.';
  location.reload();
  return '';
}

// Another address may be of other organizations.
email.addEventListener('input', () => {
  organizations?.parentElement.remove();
  organizations = null;
});
form.hidden = false;
email.focus();
form.addEventListener('submit', async (event) => {
  event.preventDefault();
  problem.textContent = '';
  submit.disabled = true;
  try {
    problem.textContent = await logIn();
  } catch {
    problem.textContent = 'The server cannot be reached. Check the connection, then try again.';
  }
  submit.disabled = false;
  if (problem.textContent && !organizations) password.select();
});
