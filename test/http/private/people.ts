import { createAuditList } from "../../../src/services/audit/audit.ts"
import type { AuditRow } from "../../../src/store/catalog/audit.ts"
import type { Answer, SignInAs, TestInstance } from "../../kit.ts"

/** A signed-in user and the requests they send. Bodies are untyped, because tests compare them with expected values. */
export interface SignedInUser {
  id: number
  email: string
  /** The current cookie. */
  readonly cookie: string
  get(path: string): Promise<UntypedResponse>
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<UntypedResponse>
}

/** A response whose body a test inspects. */
export interface UntypedResponse extends Answer {
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it with expected values
  body: any
}

export const ORGANIZATION = "/api/private/organizations/1"

/** Signs in a new user with a role in the site's organization, or with other rights. */
export async function newUser(instance: TestInstance, as: SignInAs = {}): Promise<SignedInUser> {
  return signedIn(instance, await instance.signIn(as))
}

/** Continues an existing session. Like a browser, it adopts the cookie that a response sets. */
export async function signedIn({ api }: TestInstance, first: string): Promise<SignedInUser> {
  let cookie = first
  const send: SignedInUser["send"] = async (method, path, body, headers = {}) => {
    const answer = await api.send(method, path, body, undefined, { cookie, ...headers })
    const given = /^sid=[^;]+/.exec(answer.headers.get("set-cookie") ?? "")?.[0]
    if (given !== undefined) cookie = given
    return answer
  }
  const get = (path: string) => send("GET", path)
  const { user } = (await get("/api/private/me")).body
  return {
    id: user.id,
    email: user.email,
    get cookie() {
      return cookie
    },
    get,
    send,
  }
}

/** The newest audit entries, newest first. */
export const newestEntries = ({ app }: TestInstance, limit = 1): Promise<AuditRow[]> =>
  createAuditList(app.instance).list({}, undefined, limit)

/** The faults of a rejection, as `pointer code`. */
export const faultsIn = ({ body }: UntypedResponse): string[] =>
  (body.errors ?? []).map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)
