import type { AnyPlugin } from "#plugin"
import { type Answer, programPlugins, type SignInAs, startInstance, type TestInstance } from "#plugin/test"
import dashboards from "../dashboards.ts"

export interface Member {
  cookie: string
}

/** An instance with dashboards and short calls as one of its members. */
export interface Stage extends AsyncDisposable {
  instance: TestInstance
  owner: Member
  editor: Member
  viewer: Member
  send(method: string, path: string, body?: unknown, as?: Member, headers?: Record<string, string>): Promise<Answer>
  get(path: string, as?: Member): Promise<Answer>
  post(path: string, body?: unknown, as?: Member): Promise<Answer>
  /** Creates a dashboard and returns its id. */
  make(body: object, as?: Member): Promise<number>
  signIn(as: SignInAs): Promise<Member>
}

export const SITE = "/api/private/sites/1"
export const NOW = "2026-11-21T12:00:00Z"

/** Starts an instance with dashboards, given plugins, and areas of the program by their ids. */
export async function startStage({
  plugins = [],
  areas = [],
  settings = {},
}: {
  plugins?: readonly AnyPlugin[]
  areas?: readonly string[]
  settings?: Record<string, string>
} = {}): Promise<Stage> {
  const instance = await startInstance({
    plugins: [dashboards, ...plugins, ...programPlugins.filter(({ id }) => areas.includes(id))],
    now: NOW,
    settings,
  })
  const signIn = async (as: SignInAs): Promise<Member> => ({ cookie: await instance.signIn(as) })
  const owner = await signIn({ role: "owner", isInstanceAdmin: true })
  const send: Stage["send"] = (method, path, body, as = owner, headers = {}) =>
    instance.api.send(method, path.startsWith("/api") ? path : SITE + path, body, undefined, { ...as, ...headers })
  const stage: Stage = {
    instance,
    owner,
    editor: await signIn({ role: "editor" }),
    viewer: await signIn({ role: "viewer" }),
    signIn,
    send,
    get: (path, as) => send("GET", path, undefined, as),
    post: (path, body = {}, as) => send("POST", path, body, as),
    async make(body, as) {
      const answer = await send("POST", "/dashboards", body, as)
      if (answer.status !== 201) throw new Error(`The dashboard was refused: ${JSON.stringify(answer.body)}`)
      return (answer.body as { id: number }).id
    },
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
  return stage
}

/** A widget with the fields that a test does not care about. */
export const widget = (type: string, config: object = {}, place: object = {}): Record<string, unknown> => ({
  ...{ type, x: 0, y: 0, w: 4, h: 2, config },
  ...place,
})

export const text = (markdown = "Hello", place: object = {}) => widget("text", { markdown }, place)

/** Returns the code of an answer and its faults as pointer and code. */
export function refusal({ status, body }: Answer): { status: number; code: string; errors: string[] } {
  const { code, errors = [] } = body as { code: string; errors?: { pointer: string; code: string }[] }
  return { status, code, errors: errors.map((error) => `${error.pointer} ${error.code}`) }
}
