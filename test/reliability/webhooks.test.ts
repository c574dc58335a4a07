import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { plugins } from "../../plugins/index.ts"
import { footfall, serving } from "../cli/footfall.ts"
import { bySize } from "../size.ts"

const KILLS = bySize({ check: 4, full: 60, release: 60 })
/** A site can have 200 goals. */
const GOALS_PER_KILL = bySize({ check: 8, full: 3, release: 3 })
const PASSWORD = "a fine long password"
const EMAIL = "ann@example.org"
const MAX_WAIT_MS = 180_000

interface Session {
  send(method: string, path: string, body: object): Promise<Response>
}

async function signIn(address: string): Promise<Session> {
  const headers = { "content-type": "application/json" }
  const request = { method: "POST", headers, body: JSON.stringify({ email: EMAIL, password: PASSWORD }) }
  const answer = await fetch(`${address}/api/private/auth/login`, request)
  const cookie = answer.headers.get("set-cookie")!.split(";")[0]!
  return {
    send: (method, path, body) => fetch(address + path, { method, headers: { ...headers, cookie }, body: JSON.stringify(body) }),
  }
}

/** Starts a receiver of webhooks. `ids` are the names of the goals in the messages, with the message ids by which each arrived. */
function receiver() {
  const ids = new Map<string, Set<string>>()
  let arrival = Promise.withResolvers<void>()
  let release: Promise<unknown> | undefined
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { name } = JSON.parse(await request.text()).data
      ids.set(name, (ids.get(name) ?? new Set()).add(request.headers.get("webhook-id")!))
      arrival.resolve()
      await release
      return new Response()
    },
  })
  return {
    ids,
    port: server.port!,
    /** Resolves when the next message has arrived. Its answer, and those after it, wait for `end`. */
    holdAnswers(end: Promise<unknown>): Promise<void> {
      arrival = Promise.withResolvers()
      release = end
      return arrival.promise
    },
    [Symbol.dispose]: () => void server.stop(true),
  }
}

type Moment = (writes: readonly Promise<void>[], hook: ReturnType<typeof receiver>, killed: Promise<unknown>) => Promise<unknown>

/** When the process is killed, in turn. Each moment depends on what has happened, so that a busy machine does not miss it. */
const MOMENTS: readonly Moment[] = [
  // The first event is stored, and the others are under way.
  (writes) => Promise.any(writes),
  // All events are stored, and their deliveries are under way.
  (writes) => Promise.all(writes),
  // A message has arrived, and its answer is not known yet.
  (writes, hook, killed) => Promise.all([Promise.any(writes), hook.holdAnswers(killed)]),
]

test.skipIf(!plugins.some(({ id }) => id === "integrations"))(
  `no event is lost by ${KILLS} kills between the event, its delivery and the answer, and all attempts have one message id`,
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "footfall-kills-"))
    using hook = receiver()
    try {
      const words = ["setup", "--email", EMAIL, "--name", "Ann", "--organization", "Shop", "--password-stdin", "--data-dir", dataDir]
      expect((await footfall(words, { input: `${PASSWORD}\n` })).code).toBe(0)
      const flags = ["--allow-http-webhooks", "true", "--allow-private-webhooks", "127.0.0.0/8", "--outbound-ports", String(hook.port)]
      const acknowledged: string[] = []
      for (let kill = 0; kill <= KILLS; kill++) {
        await using server = await serving(dataDir, ...flags)
        const session = await signIn(server.address)
        if (kill === 0) {
          const site = await session.send("POST", "/api/private/organizations/1/sites", { name: "Shop", hosts: ["shop.example"] })
          const webhook = { url: `http://127.0.0.1:${hook.port}/hook`, events: ["goal.created"] }
          const made = await session.send("POST", "/api/private/sites/1/webhooks", webhook)
          expect([site.status, made.status]).toEqual([201, 201])
        }
        const writes = Array.from({ length: GOALS_PER_KILL }, async (_, index) => {
          const name = `goal ${kill}-${index}`
          const { status } = await session.send("POST", "/api/private/sites/1/goals", { kind: "event", value: name })
          if (status !== 201) throw new Error(`The goal was refused with ${status}`)
          acknowledged.push(name)
        })
        if (kill === KILLS) {
          await Promise.all(writes)
          const until = Date.now() + MAX_WAIT_MS
          while (acknowledged.some((name) => !hook.ids.has(name)) && Date.now() < until) await Bun.sleep(100)
        } else {
          const settled = Promise.allSettled(writes)
          const killed = Promise.withResolvers<void>()
          await MOMENTS[kill % MOMENTS.length]!(writes, hook, killed.promise)
          await Bun.sleep((kill * 7) % 20)
          await server.end("SIGKILL")
          killed.resolve()
          await settled
        }
      }
      const { ids } = hook
      expect(acknowledged.length).toBeGreaterThan(KILLS)
      expect(acknowledged.filter((name) => !ids.has(name))).toEqual([])
      expect([...ids.values()].filter((own) => own.size !== 1)).toEqual([])
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  bySize({ check: 300_000, full: 1_800_000, release: 1_800_000 }),
)
