import type { Answer, SignInAs, TestInstance } from "../../kit.ts"

/** A signed-in user who sends requests below `/api/private`. */
export interface Person {
  cookie: string
  get(path: string): Promise<Answer>
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  patch(path: string, body: unknown, headers?: Record<string, string>): Promise<Answer>
  put(path: string): Promise<Answer>
  remove(path: string, headers?: Record<string, string>): Promise<Answer>
}

export async function signedIn(instance: TestInstance, as: SignInAs): Promise<Person> {
  const cookie = await instance.signIn(as)
  const send = (method: string, path: string, body: unknown, headers: Record<string, string> = {}) =>
    instance.api.send(method, `/api/private${path}`, body, undefined, { cookie, ...headers })
  return {
    cookie,
    get: (path) => send("GET", path, undefined),
    post: (path, body, headers) => send("POST", path, body, headers),
    patch: (path, body, headers) => send("PATCH", path, body, headers),
    put: (path) => send("PUT", path, undefined),
    remove: (path, headers) => send("DELETE", path, undefined, headers),
  }
}

/** Returns the actions in the audit log, oldest first. */
export async function auditOf(instance: TestInstance): Promise<string[]> {
  const { sql } = await import("../../../src/store/sql.ts")
  const rows = await instance.app.instance.catalog.all<{ action: string }>(sql`select action from audit_log order by id`)
  return rows.map(({ action }) => action)
}

/** Returns status and body without the request id. */
export const withoutId = ({ status, body }: Answer) => ({ status, body: { ...(body as object), request_id: "" } })
