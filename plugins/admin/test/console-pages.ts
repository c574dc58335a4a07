import { openDashboard } from "#plugin/test/browser"

/** Opens the console as an instance administrator. */
export async function openConsole(options: Parameters<typeof openDashboard>[0] = {}) {
  const stand = await openDashboard(options)
  const cookie = await stand.signIn({ role: "owner", isInstanceAdmin: true })
  const ask = async <Body>(path: string) => (await stand.instance.api.get(`/api/private/admin/${path}`, undefined, { cookie })).body as Body
  return { ...stand, cookie, ask, [Symbol.asyncDispose]: () => stand[Symbol.asyncDispose]() }
}
