import { USER } from "../../scripts/instance.ts"

export type Send = (method: string, path: string, body?: object, at?: string) => Promise<Response>

/** Signs the first user in. The session is still valid after a restart, at another address. */
export async function signIn(address: string): Promise<Send> {
  const headers = { "content-type": "application/json" }
  const body = JSON.stringify({ email: USER.email, password: USER.password })
  const answer = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers, body })
  const cookie = answer.headers.get("set-cookie")!.split(";")[0]!
  return (method, path, sent, at = address) =>
    fetch(at + path, { method, headers: { ...headers, cookie }, ...(sent && { body: JSON.stringify(sent) }) })
}
