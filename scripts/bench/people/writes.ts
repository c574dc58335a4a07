/** Freezing a cohort, evaluating the frozen copy and erasing a person, over HTTP on a server that accepts events meanwhile. */
import { FROM_SOURCE, footfall, prepareUser, serveFootfall, USER } from "../../instance.ts"
import { UNLIMITED } from "../ingest/ingest.ts"
import { steadyLoad } from "../ingest/pressure.ts"
import { fillDataDir } from "../server/memory.ts"
import type { DataOptions } from "../stores/data.ts"
import { DAY_MS } from "../stores/reports.ts"
import { count, ms, table } from "../table.ts"
import { quantile, timed } from "../timing.ts"

/** Days before the end of the data in which about a million people of ten million events are first seen. */
const FIRST_SEEN_DAYS = 190
const LOAD_SECONDS = 5
const IDLE_ROUNDS = 4

export interface Client {
  send<Answer>(method: "GET" | "POST" | "PUT", path: string, body?: object): Promise<Answer>
  /** Downloads a file. */
  fetch(path: string): Promise<Response>
}

export async function measurePeopleWrites(options: DataOptions): Promise<void> {
  await using filled = await fillDataDir(FROM_SOURCE, { ...options, users: true }, prepareUser)
  const { dataDir, site } = filled
  await footfall(FROM_SOURCE, dataDir, "site", "set", String(site.siteId), "--identity-mode", "identified")
  await using server = await serveFootfall({ dataDir, flags: UNLIMITED })
  const client = await signedIn(server.address, site.siteId)
  const rows: (string | number)[][] = []
  const add = (name: string, figure: number, bar: number) => rows.push([name, ms(figure), ms(bar), figure <= bar ? "yes" : "no"])

  const window = { type: "last_days", days: FIRST_SEEN_DAYS }
  await client.send("POST", "/cohorts", { name: "New", definition: { conditions: [{ type: "first_seen", window }] } })
  const from = performance.now()
  const frozen = await client.send<{ id: number; size: number }>("POST", "/cohorts/1/freeze", { name: "Frozen" })
  add(`freezing ${count(frozen.size)} people, ms for each 1,000,000`, ((performance.now() - from) * 1_000_000) / frozen.size, 5_000)
  const evaluated = await timed(() => client.send("POST", "/cohorts/evaluate", { cohort_id: frozen.id, trend_days: 0 }))
  add("evaluating the frozen cohort, ms", evaluated.median, 50)

  const idle: number[] = []
  for (let round = 0; round <= IDLE_ROUNDS; round++) {
    const latencies = await steadyLoad(server.address, site.trackingId, LOAD_SECONDS)
    if (round > 0) idle.push(...latencies) // the first round warms up
  }
  const day = new Date(options.end - DAY_MS).toISOString().slice(0, 10)
  const { data } = await client.send<{ data: { person: string }[] }>("GET", `/power-users?as_of=${day}&limit=1`)
  const busy: number[] = []
  const erasing = erase(client, data[0]!.person)
  while (!erasing.isDone) busy.push(...(await steadyLoad(server.address, site.trackingId, LOAD_SECONDS)))
  add("erasing the most active person beside events, seconds", await erasing.seconds, 60)
  add("p99 of events meanwhile, times that without an erasure", quantile(busy, 0.99) / quantile(idle, 0.99), 3)
  console.log(`\n### Cohorts and people over HTTP, ${count(options.events)} events\n`)
  console.log(table(["What", "Figure", "Bar", "Bar met"], rows))
}

export async function signedIn(address: string, siteId: number): Promise<Client> {
  const headers = { "content-type": "application/json" }
  const login = await fetch(`${address}/api/private/auth/login`, { method: "POST", headers, body: JSON.stringify(USER) })
  const cookie = login.headers
    .getSetCookie()
    .map((one) => one.split(";")[0]!)
    .join("; ")
  async function request(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(`${address}/api/private/sites/${siteId}${path}`, { ...init, headers: { ...headers, cookie } })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return response
  }
  return {
    async send<Answer>(method: string, path: string, body?: object) {
      const response = await request(path, { method, ...(body && { body: JSON.stringify(body) }) })
      return (await response.json()) as Answer // the caller knows the response of the route
    },
    fetch: (path) => request(path, {}),
  }
}

/** Erases a person. `seconds` is the time until the data is overwritten in the file. */
function erase(client: Client, person: string): { isDone: boolean; seconds: Promise<number> } {
  const from = performance.now()
  const run = async () => {
    const { id } = await client.send<{ id: number }>("POST", "/people/erase", { person, confirm: true })
    for (;;) {
      const { state, found } = await client.send<{ state: string; found?: { visits: number } }>("GET", `/people/erasures/${id}`)
      if (state === "done" && found!.visits > 0) return (performance.now() - from) / 1_000
      if (state === "done" || state === "failed") throw new Error(`The erasure ended as ${state} and found ${JSON.stringify(found)}`)
      await Bun.sleep(100)
    }
  }
  const erasing = {
    isDone: false,
    seconds: run().finally(() => {
      erasing.isDone = true
    }),
  }
  return erasing
}
