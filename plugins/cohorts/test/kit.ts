import { startInstance, type TestInstance } from "#plugin/test"
import cohorts from "../cohorts.ts"

/** What one person did: a time and the name of an event, or the path of a page. */
export interface Deed {
  user: string
  at: string
  /** A path means a pageview. */
  did: string
  props?: Record<string, string>
  revenue?: { amount: string; currency: string }
}

/** An instance with cohorts, an admin, a viewer and short calls. */
export interface PeopleStage extends AsyncDisposable {
  instance: TestInstance
  admin: { cookie: string }
  viewer: { cookie: string }
  /** Records what people did through the API for servers. */
  record(deeds: readonly Deed[]): Promise<void>
  /** Asks as the admin. */
  get(path: string, as?: { cookie: string }): ReturnType<TestInstance["api"]["get"]>
  post(path: string, body?: unknown, as?: { cookie: string }): ReturnType<TestInstance["api"]["get"]>
  send(method: string, path: string, body?: unknown, as?: { cookie: string }): ReturnType<TestInstance["api"]["get"]>
}

const SITE = "/api/private/sites/1"

/** Three people who bought something on the same day. */
export const THREE_BUYERS: Deed[] = ["ann", "bob", "carl"].map((user) => ({ user, at: "2026-10-10T10:00:00Z", did: "purchase" }))

/** Starts an instance whose site recognizes people by their user ids, or in another identity mode. */
export async function startPeople({
  mode = "identified",
  now = "2026-10-21T12:00:00Z",
  hasRowServer,
}: {
  mode?: string
  now?: string
  /** Whether the row tables are on a libSQL server. */
  hasRowServer?: boolean
} = {}): Promise<PeopleStage> {
  const instance = await startInstance({
    plugins: [cohorts],
    now,
    settings: { store_user_ids_allowed: "true" },
    ...(hasRowServer !== undefined && { hasRowServer }),
  })
  const admin = { cookie: await instance.signIn({ role: "owner", isInstanceAdmin: true }) }
  const viewer = { cookie: await instance.signIn({ role: "viewer" }) }
  const { api } = instance
  const settings = { identity_mode: mode, store_user_ids: mode === "identified" }
  const changed = await api.send("PATCH", `${SITE}/settings`, settings, undefined, admin)
  if (changed.status !== 200) throw new Error(`The identity mode was refused: ${JSON.stringify(changed.body)}`)
  const send: PeopleStage["send"] = (method, path, body, as = admin) => api.send(method, SITE + path, body, undefined, as)
  return {
    instance,
    admin,
    viewer,
    send,
    get: (path, as) => send("GET", path, undefined, as),
    post: (path, body, as) => send("POST", path, body, as),
    async record(deeds) {
      const events = eventsOf(deeds, { hasIds: mode === "identified" })
      const { status, body } = await api.post("/api/public/v1/sites/1/events", { events }, instance.eventsKey)
      const { accepted } = body as { accepted: number }
      if (accepted !== deeds.length) throw new Error(`Events were refused: ${status} ${JSON.stringify(body)}`)
    },
    [Symbol.asyncDispose]: () => instance[Symbol.asyncDispose](),
  }
}

/** Returns what people did as the events that a server sends. */
export const eventsOf = (deeds: readonly Deed[], { hasIds = true } = {}): object[] =>
  deeds.map(({ user, at, did, props, revenue }, index) => ({
    name: did.startsWith("/") ? "pageview" : did,
    url: `https://shop.example${did.startsWith("/") ? did : "/"}`,
    timestamp: at,
    ip: `203.0.113.${(index % 250) + 1}`,
    user_agent: "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36",
    ...(hasIds && { user_id: user }),
    ...(props && { props }),
    ...(revenue && { revenue }),
  }))

/** Runs erasures, which wait until no report reads the data that they replaced. */
export async function runErasures({ instance }: PeopleStage): Promise<void> {
  let isDone = false
  const done = instance.runJobs().finally(() => {
    isDone = true
  })
  while (!isDone) {
    instance.clock.advance(10_000)
    await Bun.sleep(20)
  }
  await done
}
