// Requests to the proxy that served the page. What fails becomes an ApiError with the reason as the proxy gave it.

const PATIENCE_MS = 10_000;
const TOKEN = 'evenkeel-session';  // kept for this tab alone, gone when it closes

export class ApiError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;  // 0: no answer
  }
}

export const hasToken = () => sessionStorage.getItem(TOKEN) !== null;
const forget = () => sessionStorage.removeItem(TOKEN);

// The browser adds nothing by itself (credentials: omit): what a page of another site makes it send proves nothing.
async function request(method, path, body, authorization = `Bearer ${sessionStorage.getItem(TOKEN)}`) {
  const options = {method, credentials: 'omit', cache: 'no-store', signal: AbortSignal.timeout(PATIENCE_MS),
    headers: {Accept: 'application/json', Authorization: authorization}};
  if (body !== undefined) {
    options.headers['Content-Type'] = 'application/json';
    options.body = JSON.stringify(body);
  }
  let response;
  let text;
  try {
    response = await fetch('/api/v1' + path, options);
    text = await response.text();
  } catch (error) {
    throw new ApiError(0, error.name === 'TimeoutError' ? `The proxy did not answer within ${PATIENCE_MS / 1000} s.` : 'The proxy cannot be reached.');
  }
  if (response.status === 401) forget();
  if (response.ok && text === '') return null;
  let answer;
  try {
    answer = JSON.parse(text);
  } catch {
    throw new ApiError(response.status, `The proxy answered ${response.status} with something that is not JSON.`);
  }
  if (response.ok) return answer;
  throw new ApiError(response.status, answer?.error?.message ?? `The proxy answered ${response.status}.`);
}

function basic(user, password) {
  return 'Basic ' + btoa(String.fromCharCode(...new TextEncoder().encode(`${user}:${password}`)));
}

const of = (name) => `?schema=${encodeURIComponent(name.schema)}&table=${encodeURIComponent(name.table)}`;

export const api = {
  session: () => request('GET', '/session'),
  async signIn(user, password) {
    const {token, ...session} = await request('POST', '/session', undefined, basic(user, password));
    sessionStorage.setItem(TOKEN, token);
    return session;
  },
  async signOut() {
    try { await request('DELETE', '/session'); } finally { forget(); }
  },
  tables: () => request('GET', '/tables'),
  layout: (name) => request('GET', '/layout' + of(name)),
  figures: (name) => request('GET', '/figures' + of(name)),
  history: (name) => request('GET', '/history' + of(name)),
  explain: (name, slot) => request('GET', `/explain${of(name)}&slot=${slot}`),
  log: () => request('GET', '/steering/history'),
  dryRun: (order) => request('POST', '/dry-run', order),
  steer: (order, version) => request('POST', '/steer', {...order, if_version: version}),
};
