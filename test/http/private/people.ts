import { createAuditList } from "../../../src/services/audit/audit-list.ts"
import type { AuditRow } from "../../../src/store/catalog/audit.ts"
import type { Answer, SignInAs, TestInstance } from "../../kit.ts"

/** Somebody who is signed in, and what they can send. Answers are read as what the test expects of them. */
export interface Someone {
  id: number
  email: string
  /** As it is now. */
  readonly cookie: string
  get(path: string): Promise<Told>
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Told>
}

/** An answer whose body a test looks into. */
export interface Told extends Answer {
  // biome-ignore lint/suspicious/noExplicitAny: tests compare it with what should be there
  body: any
}

export const ORGANIZATION = "/api/private/organizations/1"

/** A new user with a role in the organization of the site, or another standing. */
export async function someone(instance: TestInstance, as: SignInAs = {}): Promise<Someone> {
  return signedIn(instance, await instance.signIn(as))
}

/** Whoever has this session. As a browser does, they go on with the cookie that an answer gives them. */
export async function signedIn({ api }: TestInstance, first: string): Promise<Someone> {
  let cookie = first
  const send: Someone["send"] = async (method, path, body, headers = {}) => {
    const told = await api.send(method, path, body, undefined, { cookie, ...headers })
    const given = /^sid=[^;]+/.exec(told.headers.get("set-cookie") ?? "")?.[0]
    if (given !== undefined) cookie = given
    return told
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

/** The newest rows of the log, newest first. */
export const newestEntries = ({ app }: TestInstance, limit = 1): Promise<AuditRow[]> =>
  createAuditList(app.instance).list({}, undefined, limit)

/** What a refusal says of its fields. */
export const faultsIn = ({ body }: Told): string[] =>
  (body.errors ?? []).map(({ pointer, code }: { pointer: string; code: string }) => `${pointer} ${code}`)
