/**
 * Weekly reports of many sites that are due at the same hour, and rounds of alerts over them. The instance runs in this process, on real
 * stores and with a mail server on loopback, so the figures include the work of the people who ask for reports.
 */
import { sql } from "../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../../test/kit.ts"
import { count, ms, table } from "../table.ts"
import { quantile } from "../timing.ts"
import type { MailSinkMessage } from "./mail-sink.ts"

const DAY_MS = 86_400_000
const VIEWS_PER_SITE = 12
const ALERTS = [
  { type: "spike", threshold: 50 },
  { type: "drop", threshold: 1, window_minutes: 10_080 },
  { type: "no_data", window_minutes: 10_080 },
  { type: "goal", threshold: 100, window_minutes: 1_440 },
  { type: "not_found", threshold: 50 },
] as const

export async function measureReportEmails({ sites }: { sites: number }): Promise<void> {
  const server = await mailServer()
  const settings = {
    smtp_host: "127.0.0.1",
    smtp_port: String(server.port),
    smtp_security: "none",
    private_rate: "100000",
    api_rate_limit: "0",
    // The instance begins with one site.
    max_sites: String(sites + 1),
  }
  await using instance = await startInstance({ now: "2026-11-18T09:00:00Z", settings })
  const { catalog } = instance.app.instance
  // Filling a store one request at a time needs no durability.
  await catalog.run(sql`pragma synchronous = off`)
  const goals = await fill(instance, sites)
  await catalog.run(sql`pragma synchronous = full`)
  instance.clock.advance(2 * DAY_MS)
  await instance.runJobs()

  await measureAlerts(instance, goals)
  await measureSending(instance, server, goals.size)
  server.close()
}

/** Creates sites with traffic, a goal and a weekly report each. Returns the goals by site. */
async function fill(instance: TestInstance, sites: number): Promise<Map<number, number>> {
  const goals = new Map<number, number>()
  let cookie = await instance.signIn({ role: "owner" })
  for (let i = 0; i < sites; i++) {
    if (i % 200 === 0) cookie = await instance.signIn({ role: "owner" })
    const host = `shop-${i}.example`
    const { id } = await instance.app.instance.sites.create(1, { name: `Shop ${i}`, hosts: [host], timezone: "Europe/Berlin" })
    const post = async (path: string, body: object) => {
      const answer = await instance.api.post(`/api/private/sites/${id}${path}`, body, undefined, { cookie })
      if (answer.status !== 201) throw new Error(`${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`)
      return answer.body as { id: number }
    }
    goals.set(id, (await post("/goals", { name: "Signup", kind: "event", value: "Signup" })).id)
    await post("/reports", { kind: "weekly", recipients: [`owner-${i}@example.org`] })
    for (let view = 0; view < VIEWS_PER_SITE; view++) {
      const payload = { n: view % 6 === 5 ? "Signup" : "pageview", u: `https://${host}/page-${view % 4}`, d: host }
      await instance.collect(payload, { address: `198.51.${i % 250}.${view + 1}` })
    }
  }
  return goals
}

async function measureAlerts(instance: TestInstance, goals: ReadonlyMap<number, number>): Promise<void> {
  const { catalog } = instance.app.instance
  const minute = async (): Promise<{ cpu: number; wall: number }> => {
    instance.clock.advance(300_000)
    const [before, from] = [process.cpuUsage(), performance.now()]
    await instance.runJobs()
    const { user, system } = process.cpuUsage(before)
    return { cpu: (user + system) / 1_000, wall: performance.now() - from }
  }
  await minute()
  const without = await minute()
  for (const [siteId, goalId] of goals)
    for (const alert of ALERTS) {
      const window = "window_minutes" in alert ? alert.window_minutes : null
      const values = sql`${siteId}, ${alert.type}, ${"threshold" in alert ? alert.threshold : 1}, ${window ?? (alert.type === "not_found" ? 60 : null)}`
      await catalog.run(sql`
        insert into integrations_alerts (site_id, type, threshold, window_minutes, goal_id, created_at, updated_at)
        values (${values}, ${alert.type === "goal" ? goalId : null}, 0, 0)`)
    }
  await minute() // the first round reads everything into the caches
  const rounds = [await minute(), await minute(), await minute()]
  const best = (of: "cpu" | "wall") => Math.min(...rounds.map((round) => round[of]))
  console.log(`\n### A round of alerts: ${count(goals.size)} sites with ${ALERTS.length} alerts each\n`)
  const rows = [
    ["all jobs of a fifth minute, without alerts", ms(without.cpu), ms(without.wall)],
    ["the same with alerts, best of 3", ms(best("cpu")), ms(best("wall"))],
  ]
  console.log(table(["Round", "CPU ms", "wall ms"], rows))
  const fired = await catalog.get<{ n: number }>(sql`select count(*) as n from integrations_alerts where firing_since is not null`)
  console.log(`\nThe alerts take ${ms((best("cpu") - without.cpu) / 1_000)} s of one core. ${count(fired!.n)} fired.`)
}

async function measureSending(instance: TestInstance, server: MailServer, sites: number): Promise<void> {
  const { accounts } = instance.app.instance
  const ask = async (): Promise<number> => {
    const from = performance.now()
    const answer = await instance.api.get("/api/public/v1/sites/1/stats/breakdown?dimension=page&period=30d", instance.statsKey)
    if (answer.status !== 200) throw new Error(`A report was answered with ${answer.status}`)
    return performance.now() - from
  }
  const during = async (over: () => boolean): Promise<number[]> => {
    const latencies: number[] = []
    while (!over()) {
      latencies.push(await ask())
      await Bun.sleep(20)
    }
    return latencies
  }
  await ask()
  const until = performance.now() + 10_000
  const idle = await during(() => performance.now() > until)
  // Monday, 7 o'clock in Berlin.
  instance.clock.advance(Date.parse("2026-11-23T06:00:00Z") - instance.clock.now())
  const from = performance.now()
  let isOver = false
  const work = (async () => {
    await instance.runJobs()
    await accounts.mail.settled()
    await accounts.mail.deliver()
    isOver = true
  })()
  const busy = await during(() => isOver)
  await work
  const seconds = (performance.now() - from) / 1_000
  console.log(`\n### Weekly reports of ${count(sites)} sites at the same hour\n`)
  const row = (name: string, latencies: readonly number[]) => [name, ms(quantile(latencies, 0.5)), ms(quantile(latencies, 0.99))]
  console.log(table(["A person's report", "p50 ms", "p99 ms"], [row("idle", idle), row("beside the reports", busy)]))
  const ratio = (share: number) => (quantile(busy, share) / quantile(idle, share)).toFixed(1)
  console.log(
    `\n${count(server.accepted())} emails were handed over in ${seconds.toFixed(1)} s. People's reports took ${ratio(0.5)} times (p50) and ${ratio(0.99)} times (p99) their idle value.`,
  )
}

interface MailServer {
  port: number
  /** Number of accepted emails. */
  accepted(): number
  close(): void
}

/** Starts a mail server on a thread of its own, because a real one takes no time from the instance. */
async function mailServer(): Promise<MailServer> {
  const worker = new Worker(new URL("./mail-sink.ts", import.meta.url))
  const { promise, resolve } = Promise.withResolvers<number>()
  let accepted = 0
  worker.addEventListener("message", ({ data }: MessageEvent<MailSinkMessage>) => {
    if (data.port !== undefined) resolve(data.port)
    else accepted = data.accepted
  })
  return { port: await promise, accepted: () => accepted, close: () => worker.terminate() }
}
