import { expect, test } from "bun:test"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bySize, footfall, serving } from "#plugin/test"
import { type Receiver, receiver } from "./kit.ts"

const KILLS = bySize({ check: 4, full: 60, release: 60 })
/** A site can have 200 goals. */
const GOALS_PER_KILL = bySize({ check: 8, full: 3, release: 3 })
const PASSWORD = "a fine long password"
const EMAIL = "ann@example.org"
const MAX_WAIT_MS = 60_000

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

/** Names of the goals in the messages, with the message ids by which each arrived. */
function arrivals({ received }: Receiver): Map<string, Set<string>> {
  const ids = new Map<string, Set<string>>()
  for (const { body, headers } of received) {
    const { name } = JSON.parse(body).data
    ids.set(name, (ids.get(name) ?? new Set()).add(headers["webhook-id"]!))
  }
  return ids
}

test(
  `no event is lost by ${KILLS} kills between the event, its delivery and the answer, and all attempts have one message id`,
  async () => {
    const dataDir = mkdtempSync(join(tmpdir(), "footfall-kills-"))
    using hook = receiver()
    // Some answers are slow, so that kills also meet attempts that the receiver has taken.
    hook.always = async () => {
      await Bun.sleep(hook.received.length % 3 === 0 ? 30 : 0)
      return new Response()
    }
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
          const webhook = { url: hook.url(), events: ["goal.created"] }
          const made = await session.send("POST", "/api/private/sites/1/webhooks", webhook)
          expect([site.status, made.status]).toEqual([201, 201])
        }
        const writes = Array.from({ length: GOALS_PER_KILL }, async (_, index) => {
          const name = `goal ${kill}-${index}`
          const answer = await session.send("POST", "/api/private/sites/1/goals", { kind: "event", value: name }).catch(() => undefined)
          if (answer?.status === 201) acknowledged.push(name)
        })
        if (kill === KILLS) {
          await Promise.all(writes)
          const until = Date.now() + MAX_WAIT_MS
          while (acknowledged.some((name) => !arrivals(hook).has(name)) && Date.now() < until) await Bun.sleep(100)
        } else {
          await Bun.sleep(20 + ((kill * 37) % 120))
          await server.end("SIGKILL")
          await Promise.all(writes)
        }
      }
      const ids = arrivals(hook)
      expect(acknowledged.length).toBeGreaterThan(KILLS)
      expect(acknowledged.filter((name) => !ids.has(name))).toEqual([])
      expect([...ids.values()].filter((own) => own.size !== 1)).toEqual([])
    } finally {
      rmSync(dataDir, { recursive: true, force: true })
    }
  },
  bySize({ check: 120_000, full: 600_000, release: 600_000 }),
)
