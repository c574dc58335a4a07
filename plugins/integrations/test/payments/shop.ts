import { type Answer, type SignInAs, type StartOptions, startInstance, type TestInstance } from "#plugin/test"
import type { HookKind } from "../../payments/hook.ts"
import { SECRETS, type Signing, signatureOf } from "./providers.ts"

// biome-ignore lint/suspicious/noExplicitAny: answers whose fields the tests compare
type Json = any
type Told = Answer & { body: Json }

export const SITE = "/api/private/sites/1"

export type Hook = Json & { kind: HookKind; path: string }

/** An instance with all plugins, whose site has payment hooks. */
export interface Shop extends AsyncDisposable {
  instance: TestInstance
  /** Sends a request as an owner of the organization. */
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Told>
  as(standing: SignInAs): Promise<Shop["ask"]>
  /** Creates a hook and returns it with its URL's path. Throws if it is refused. */
  newHook(kind: HookKind): Promise<Hook>
  /** Returns the hook of a kind, created with the first call. */
  hook(kind: HookKind): Promise<Hook>
  /** Returns the last event of a hook as its answer shows it. */
  lastEvent(hook: Hook): Promise<Json>
  /** Sends a body as its provider does, signed now. A text is sent as it is. */
  send(hook: Hook, body: unknown, signing?: Signing): Promise<Told>
  /** Sends a body with given headers. */
  post(path: string, body: string | Uint8Array, headers: Record<string, string>): Promise<Told>
  /** Returns all transactions after the published payments were consumed, oldest first. */
  transactions(): Promise<Json[]>
}

export async function startShop(options: StartOptions = {}): Promise<Shop> {
  const instance = await startInstance({ now: "2026-11-26T12:00:00Z", ...options })
  const { clock } = instance
  const as: Shop["as"] = async (standing) => {
    const cookie = await instance.signIn(standing)
    return (method, path, body, headers) => instance.api.send(method, SITE + path, body, undefined, { cookie, ...headers }) as Promise<Told>
  }
  const ask = await as({ role: "owner" })
  // The consumers of product events begin with the first run.
  await instance.runJobs()
  const post: Shop["post"] = (path, body, headers) => instance.api.post(path, body, undefined, headers) as Promise<Told>
  const newHook: Shop["newHook"] = async (kind) => {
    const answer = await ask("POST", "/integrations/hooks", { kind, signing_secret: SECRETS[kind] })
    if (answer.status !== 201) throw new Error(JSON.stringify(answer.body))
    return { ...answer.body, path: new URL(answer.body.url).pathname }
  }
  const hooks = new Map<HookKind, Promise<Hook>>()
  return {
    ...{ instance, ask, as, post, newHook },
    hook: (kind) => hooks.getOrInsertComputed(kind, newHook),
    lastEvent: async ({ id }) => (await ask("GET", `/integrations/hooks/${id}`)).body.last_event,
    send({ kind, path }, body, signing = {}) {
      const text = typeof body === "string" ? body : JSON.stringify(body)
      return post(path, text, signatureOf(kind, text, { at: clock.now(), ...signing }))
    },
    async transactions() {
      await instance.runJobs()
      clock.advance(2_000)
      await instance.runJobs()
      const answer = await ask("GET", "/revenue/transactions?sort=occurred_at&limit=200")
      if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
      return answer.body.data
    },
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}
