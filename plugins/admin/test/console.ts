/** Starts an instance with an instance administrator, for the tests of the console. */
import { type Answer, type StartOptions, startInstance, type TestInstance } from "#plugin/test"

export interface ConsoleInstance extends AsyncDisposable {
  instance: TestInstance
  /** Cookie of the instance administrator, who owns organization 1. */
  cookie: string
  adminId: number
  get(path: string, cookie?: string): Promise<Answer>
  send(method: string, path: string, body?: unknown, options?: { cookie?: string; headers?: Record<string, string> }): Promise<Answer>
  /** Creates a user with a session. */
  person(as?: Parameters<TestInstance["signIn"]>[0]): Promise<{ id: number; email: string; cookie: string }>
}

const BASE = "/api/private/admin"

export async function startConsole(options: StartOptions = {}): Promise<ConsoleInstance> {
  const instance = await startInstance(options)
  const whoIs = async (cookie: string) =>
    ((await instance.api.get("/api/private/me", undefined, { cookie })).body as { user: { id: number; email: string } }).user
  const cookie = await instance.signIn({ isInstanceAdmin: true, role: "owner" })
  return {
    instance,
    cookie,
    adminId: (await whoIs(cookie)).id,
    get: (path, by = cookie) => instance.api.get(BASE + path, undefined, { cookie: by }),
    send: (method, path, body, { cookie: by = cookie, headers = {} } = {}) =>
      instance.api.send(method, BASE + path, body, undefined, { cookie: by, ...headers }),
    async person(as = {}) {
      const own = await instance.signIn(as)
      return { ...(await whoIs(own)), cookie: own }
    },
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}

/** Returns the actions in the audit log in order. */
export async function actionsOf({ instance }: Pick<ConsoleInstance, "instance">): Promise<string[]> {
  const rows = await instance.app.memberships.auditList.list({}, undefined, 200)
  return rows.map(({ action }) => action).reverse()
}
