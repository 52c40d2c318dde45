const REQUEST_MILLISECONDS = 30_000;

async function post(path, headers, body) {
  const signal = AbortSignal.timeout(REQUEST_MILLISECONDS);
  const response = await fetch(path, { method: 'POST', headers, body, signal, cache: 'no-store', credentials: 'omit' })
    .catch(() => {
      throw new Problem('The server cannot be reached. Check the connection, then try again.');
    });
  if (!response.ok) throw setFields(new Problem(explain(response)), { status: response.status });
  return (await response.json()).data;
}

function explain(response) {
  const seconds = Number(response.headers.get('Retry-After'));
  const later = seconds > 0 ? `in ${plural(seconds, 'second')}` : 'later';
  if (response.status === 401 || response.status === 403) return 'The password is wrong.';
  if (response.status === 404) return 'This page does not exist any more, or it is no longer shared.';
  if (response.status === 429) return `There were too many attempts. Try again ${later}.`;
  if (response.status === 503) return `The server is busy. Try again ${later}.`;
  return `The server could not answer (error ${response.status}). Try again later.`;
}

// The token is kept in this function only: it is in no address, no cookie and no storage.
async function unlock(share, password) {
  const path = `../api/v1/shares/public/${encodeURIComponent(share)}`;
  const { token } = await post(`${path}/verify`, { 'Content-Type': 'application/json' }, JSON.stringify({ password }));
  const { topology } = await post(`${path}/topology`, { Authorization: `Bearer ${token}` });
  const picture = parsePicture(topology.svg);
  byId('canvas').append(picture);
  byId('locked').remove();
  byId('viewer').hidden = false;
  startShare(startViewer(() => topology.graph, picture), share, token);
  byId('keyboard').focus();
}

function startForm(form) {
  const [password, submit, problem] = ['password', 'unlock', 'problem'].map(byId);
  form.hidden = false;
  password.focus();
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    problem.textContent = '';
    submit.disabled = true;
    try {
      await unlock(form.dataset.share, password.value);
    } catch (error) {
      problem.textContent = error instanceof Problem ? error.message : 'The page could not be opened. Try again.';
      password.select();
      password.focus();
    } finally {
      submit.disabled = false;
    }
  });
}

const form = byId('password-form');
if (form) {
  startForm(form);
} else {
  const readGraph = () => JSON.parse(byId('graph').textContent);
  const viewer = startViewer(readGraph, document.querySelector('#canvas > .topology'));
  startShare(viewer, location.pathname.split('/').at(-1), null);
}
