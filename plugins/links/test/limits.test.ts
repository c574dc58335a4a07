import { Database } from "bun:sqlite"
import { expect, test } from "bun:test"
import { join } from "node:path"
import { freshAddress, GOOGLEBOT, linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"

test("serves the click that reaches the limit but not the next person, and does not count bots", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination, max_clicks: 2, expired_destination: "https://example.com/over" })
  for (let request = 0; request < 5; request++) {
    expect((await stand.visit(`/l/${slug}`, { method: "HEAD" })).status).toBe(302)
    expect((await stand.visit(`/l/${slug}`, { headers: { "user-agent": GOOGLEBOT } })).status).toBe(302)
    expect((await stand.visit(`/l/${slug}`, { headers: { "sec-purpose": "prefetch" } })).status).toBe(302)
  }
  const to = async () => (await stand.visit(`/l/${slug}`)).headers.get("location")
  expect([await to(), await to(), await to()]).toEqual([destination, destination, "https://example.com/over"])
  await stand.ask("PATCH", `${PATH}/${id}`, { max_clicks: 3 })
  expect([await to(), await to()]).toEqual([destination, "https://example.com/over"])
  await stand.recorded()
  stand.instance.clock.advance(60_000)
  await stand.instance.runJobs()
  expect(await to()).toBe("https://example.com/over")
  expect((await stand.ask("GET", `${PATH}/${id}`)).body).toMatchObject({ state: "expired", clicks: { human: 3, bot: 15 } })
})

test("serves exactly the limit of clicks out of 200 simultaneous requests", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination, max_clicks: 37 })
  const answers = await Promise.all(Array.from({ length: 200 }, () => stand.visit(`/l/${slug}`, { address: freshAddress() })))
  const statuses = Map.groupBy(answers, ({ status }) => status)
  expect([...statuses].map(([status, those]) => [status, those.length])).toEqual([
    [302, 37],
    [410, 163],
  ])
  await stand.recorded()
  expect((await stand.ask("GET", `${PATH}/${id}/stats`)).body.clicks).toMatchObject({ human: 37, total: 37 })
})

test("answers every request from one consistent version while a link changes", async () => {
  await using stand = await linkStand()
  const versions = ["a", "b", "c", "d"].map((name) => ({
    destination: `https://${name}.example/${name}`,
    utm: { utm_source: name },
    redirect_status: { a: 301, b: 302, c: 307, d: 308 }[name],
    tags: [name],
  }))
  const whole = new Set(
    versions.map(({ destination, utm, redirect_status }) => `${redirect_status} ${destination}?utm_source=${utm.utm_source}`),
  )
  const { slug, id } = await stand.make(versions[0]!)
  let isOver = false
  const seen = new Set<string>()
  const visiting = Array.from({ length: 8 }, async () => {
    while (!isOver) {
      const answer = await stand.visit(`/l/${slug}`)
      seen.add(`${answer.status} ${answer.headers.get("location")}`)
      await Bun.sleep(0)
    }
  })
  for (let change = 0; change < 60; change++) {
    expect((await stand.ask("PATCH", `${PATH}/${id}`, versions[change % 4])).status).toBe(200)
    // Yields to the visitors' requests, because statements of this store do not yield.
    await Bun.sleep(change % 3)
  }
  isOver = true
  await Promise.all(visiting)
  expect([...seen].filter((answer) => !whole.has(answer))).toEqual([])
  expect(seen.size).toBeGreaterThan(1)
})

test("counts each click once over restarts and keeps the counters after retention", async () => {
  await using stand = await linkStand()
  const { clock, app } = stand.instance
  const { slug, id } = await stand.make({ destination })
  const counted = async () => (await stand.ask("GET", `${PATH}/${id}`)).body.clicks
  for (let round = 1; round <= 3; round++) {
    await stand.visit(`/l/${slug}?qr=1`)
    await stand.visit(`/l/${slug}`, { method: "HEAD" })
    await stand.recorded()
    clock.advance(60_000)
    await stand.instance.runJobs()
    await stand.instance.runJobs()
    expect(await counted()).toEqual({ total: 2 * round, human: round, bot: round, qr: round })
  }
  await app.instance.events.seal(clock.now() + 86_400_000, true)
  await app.instance.events.retain(1, clock.now() + 1, clock.now())
  expect((await stand.ask("GET", `${PATH}/${id}/stats?period=all`)).body.clicks).toMatchObject({ total: 0 })
  expect(await counted()).toMatchObject({ human: 3 })
})

test("redirects a click that cannot be stored and counts it as refused", async () => {
  await using stand = await linkStand()
  const { slug } = await stand.make({ destination })
  // Rejects writes like a full disk.
  stand.instance.app.collector.stop()
  expect((await stand.visit(`/l/${slug}`)).headers.get("location")).toBe(destination)
  await stand.recorded()
  expect(stand.instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
  expect((await stand.instance.app.console.ingestion.minutes({})).totals).toMatchObject({
    accepted: 0,
    refused_queue: 0,
    refused_storage: 1,
  })
})

test("stores the click that uses up a limit, and all clicks before it, before its redirect", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination, max_clicks: 3 })
  const answers = await Promise.all(Array.from({ length: 4 }, () => stand.visit(`/l/${slug}`)))
  expect(answers.map(({ status }) => status)).toEqual([302, 302, 302, 410])
  expect((await stand.ask("GET", `${PATH}/${id}/stats?period=today`)).body.clicks).toMatchObject({ human: 3, total: 3 })
})

test("redirects the click that uses up a limit even if it cannot be stored", async () => {
  await using stand = await linkStand()
  const { slug } = await stand.make({ destination, max_clicks: 1 })
  stand.instance.app.collector.stop()
  expect((await stand.visit(`/l/${slug}`)).headers.get("location")).toBe(destination)
  expect((await stand.visit(`/l/${slug}`)).status).toBe(410)
  expect(stand.instance.log.lines.filter(({ level }) => level === "error")).toEqual([])
  expect((await stand.instance.app.console.ingestion.minutes({})).totals).toMatchObject({ accepted: 0, refused_storage: 1 })
})

test("loses no click of a burst that is larger than what may wait for the disk", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination })
  await stand.visit(`/l/${slug}`)
  await stand.recorded()
  const address = freshAddress()
  // All in one turn of the event loop, so none can reach the disk in between.
  const answers = Array.from({ length: 2_500 }, () => stand.visit(`/l/${slug}`, { address }))
  for (const answer of await Promise.all(answers)) expect(answer.headers.get("location")).toBe(destination)
  await stand.recorded()
  expect((await stand.instance.app.console.ingestion.minutes({})).totals).toMatchObject({ accepted: 2_501, refused_queue: 0 })
  expect((await stand.ask("GET", `${PATH}/${id}/stats?period=today`)).body.clicks).toMatchObject({ total: 2_501 })
})

test("answers at most 1,000 clicks while the event store is locked, and the others after 100 ms with their loss counted", async () => {
  await using stand = await linkStand()
  const { slug, id } = await stand.make({ destination })
  const { console } = stand.instance.app
  await stand.visit(`/l/${slug}`)
  await stand.recorded()
  const address = freshAddress()
  const other = new Database(join(stand.instance.dataDir, "events.db"))
  other.run("begin immediate")
  let answered = 0
  const answers = Array.from({ length: 1_025 }, async () => {
    const answer = await stand.visit(`/l/${slug}`, { address })
    answered++
    return answer
  })
  await Bun.sleep(10)
  expect(answered).toBe(1_000)
  for (const answer of await Promise.all(answers)) expect(answer.headers.get("location")).toBe(destination)
  other.run("rollback")
  other.close()
  await stand.recorded()
  expect((await console.ingestion.minutes({})).totals).toMatchObject({ accepted: 1_001, refused_queue: 25 })
  expect((await console.ingestion.minutes({ site: "1" })).totals).toMatchObject({ refused_queue: 25 })
  expect((await stand.ask("GET", `${PATH}/${id}/stats?period=today`)).body.clicks).toMatchObject({ total: 1_001 })
})
