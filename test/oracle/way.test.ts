import { expect, test } from "bun:test"
import { BROWSER, startInstance, type TestInstance } from "../kit.ts"
import { bySize, SEED } from "../size.ts"
import { type Random, seededRandom } from "./random.ts"

/**
 * Compares the path from a browser's request to an answer of the public API with a plain list that follows metrics.md sections 2,
 * 3 and 5: random visitors on days with clock changes, late events, engagement, identified persons, back-fills across midnights
 * whose salts are destroyed, while the store seals, merges and erases.
 */
/** Number of worlds; the seed chooses the first. */
const WAYS = bySize({ check: 3, full: 6, release: 100 })
const MINUTE = 60_000
const HOUR = 60 * MINUTE
const EVENTS = 250
const ERASED_AT = [100, 180]
/** Number of days that back-fills reach back before the first browser event. */
const BACK = 8
const METRICS = ["visitors", "visits", "pageviews", "events", "bounce_rate", "visit_duration", "views_per_visit", "engaged_time"] as const
const ZONES = [
  ["Europe/Berlin", "2026-10-24T18:00:00Z"],
  ["America/New_York", "2026-10-31T23:00:00Z"],
  ["Australia/Lord_Howe", "2026-10-03T06:00:00Z"],
  ["America/Havana", "2026-03-07T23:00:00Z"],
  ["Africa/Casablanca", "2026-03-21T17:00:00Z"],
  ["Asia/Kathmandu", "2026-12-31T08:00:00Z"],
] as const

interface PlainEvent {
  at: number
  name: string
  page: string
  interactive: boolean
  engaged: number
}

interface PlainVisit {
  /** The salt that made the visitor's id (`saltName`), and the address. */
  rotating: string
  /** "" until a user id is sent. */
  user: string
  arrivedAt: number
  events: PlainEvent[]
}

type Metrics = Record<(typeof METRICS)[number], number>

const isCounted = ({ name }: PlainEvent): boolean => name !== "engagement"
const isView = ({ name }: PlainEvent): boolean => name === "pageview"
const startOf = ({ events }: PlainVisit): number => Math.min(...events.map(({ at }) => at))
const activeAt = ({ events }: PlainVisit): number => Math.max(...events.map(({ at }) => at))
const localTime = (at: number, zone: string) => Temporal.Instant.fromEpochMilliseconds(at).toZonedDateTimeISO(zone)
const dayOf = (at: number, zone: string): string => localTime(at, zone).toPlainDate().toString()
/** Labels hours as the API does: a repeated one has its offset. */
const hourOf = (at: number, zone: string): string => {
  const time = localTime(at, zone)
  return `${time.toPlainDate()}T${String(time.hour).padStart(2, "0")}:00:00${time.offset}`
}

function fits(visit: PlainVisit, at: number, arrival: number, user: string): boolean {
  if (arrival - visit.arrivedAt > 30 * MINUTE) return false
  if (user !== "" && visit.user !== "" && visit.user !== user) return false
  const [start, active] = [startOf(visit), activeAt(visit)]
  return at >= start - 30 * MINUTE && at <= active + 30 * MINUTE && Math.max(active, at) - Math.min(start, at) <= 24 * HOUR
}

interface Sent {
  at: number
  arrival: number
  address: string
  user: string
  /** The request of a site's own server that contains the event; "" for an event of a browser. */
  request: string
}

/** Names the salt of an event. A day's salt lives for 48 hours; later, each request of a server has its own salt for the day. */
function saltName(day: Temporal.PlainDate, { arrival, request }: Sent, zone: string): string {
  const isDestroyed = day.toZonedDateTime(zone).epochMilliseconds + 48 * HOUR <= arrival
  return isDestroyed ? `${request} ${day}` : `${day}`
}

/** Returns the visit that the event joins, by the salt of its day or else of the day before; the most recently active of several. */
function joinable(visits: readonly PlainVisit[], sent: Sent, zone: string) {
  const { at, arrival, address, user } = sent
  const day = Temporal.PlainDate.from(dayOf(at, zone))
  const by = (salt: Temporal.PlainDate) =>
    visits
      .filter((visit) => visit.rotating === `${saltName(salt, sent, zone)} ${address}` && fits(visit, at, arrival, user))
      .sort((a, b) => activeAt(b) - activeAt(a))[0]
  return by(day) ?? by(day.subtract({ days: 1 }))
}

const rounded = (value: number, decimals: number): number => Math.round(value * 10 ** decimals + 1e-9) / 10 ** decimals

function metricsOf(visits: readonly PlainVisit[], isIn: (at: number) => boolean): Metrics {
  const events = visits.flatMap((visit) =>
    visit.events.filter((event) => isCounted(event) && isIn(event.at)).map((event) => ({ visit, event })),
  )
  const started = visits.filter((visit) => isIn(startOf(visit)))
  const views = started.map((visit) => visit.events.filter(isView).length)
  const isBounced = ({ events: of }: PlainVisit, i: number) =>
    views[i]! <= 1 && !of.some((event) => isCounted(event) && !isView(event) && event.interactive)
  const lasted = started.map((visit) => Math.max(...visit.events.filter(isCounted).map(({ at }) => at)) - startOf(visit))
  const engaged = started.map(({ events: of }) => of.reduce((sum, event) => sum + event.engaged, 0))
  const mean = (values: readonly number[]) => (values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length)
  return {
    visitors: new Set(events.map(({ visit }) => visit.user || visit.rotating)).size,
    visits: started.length,
    pageviews: events.filter(({ event }) => isView(event)).length,
    events: events.length,
    bounce_rate: rounded(mean(started.map((visit, i) => (isBounced(visit, i) ? 100 : 0))), 1),
    visit_duration: rounded(mean(lasted) / 1_000, 0),
    views_per_visit: rounded(mean(views), 2),
    engaged_time: rounded(mean(engaged) / 1_000, 0),
  }
}

/** Creates a site of a running instance together with the plain list of its expected content. */
async function world(instance: TestInstance, random: Random, { zone, isNamed }: { zone: string; isNamed: boolean }) {
  const { id } = await instance.app.instance.sites.create(1, { name: "Way", hosts: ["way.example"], timezone: zone })
  const { clock } = instance
  const cookie = await instance.signIn({ role: "owner", provedAt: clock.now() + 365 * 24 * HOUR })
  const asOwner = (method: string, path: string, body: unknown) =>
    instance.api.send(method, `/api/private/sites/${id}${path}`, body, undefined, { cookie })
  if (isNamed) expect((await asOwner("PATCH", "/settings", { identity_mode: "identified" })).status).toBe(200)
  const first = dayOf(clock.now() - (BACK + 2) * 24 * HOUR, zone)
  const visits: PlainVisit[] = []
  let requests = 0

  /** Adds an event to the visit that it joins or to a new one. Returns undefined if it cannot open a visit. */
  function store(sent: Sent, event: PlainEvent): PlainVisit | undefined {
    const { at, arrival, address, user } = sent
    const joined = joinable(visits, sent, zone)
    if (!joined && event.name === "engagement") return undefined
    const salt = saltName(Temporal.PlainDate.from(dayOf(at, zone)), sent, zone)
    const visit = joined ?? { rotating: `${salt} ${address}`, user: "", arrivedAt: 0, events: [] }
    if (!joined) visits.push(visit)
    visit.events.push(event)
    visit.arrivedAt = arrival
    visit.user = user || visit.user
    return visit
  }

  return {
    visits,
    ask: async (question: string) => {
      const range = `from=${first}&to=${dayOf(clock.now(), zone)}`
      const { status, body } = await instance.api.get(`/api/public/v1/sites/${id}/stats/${question}&${range}`, instance.statsKey)
      expect(status).toBe(200)
      return body
    },
    async send(): Promise<void> {
      clock.advance(random.pick([1, 5, 60, 180, 540, 1_200, 1_860, 2_700]) * 1_000 + random.whole(0, 999))
      const arrival = clock.now()
      const age = random.pick([
        0,
        0,
        0,
        0,
        random.whole(1, 40) * MINUTE,
        random.whole(1, 40) * MINUTE,
        random.whole(0, 500) * MINUTE,
        -5_000,
      ])
      const at = arrival - Math.min(6 * HOUR, Math.max(0, age))
      const name = random.pick(["pageview", "pageview", "pageview", "Signup", "Scroll", "engagement"])
      const page = random.pick(["/", "/a", "/b"])
      const interactive = random.chance(0.6)
      const engaged = name === "engagement" ? random.whole(1, 60) * 1_000 : 0
      const user = isNamed ? random.pick(["", "", "", "ann", "bob"]) : ""
      const address = `203.0.113.${random.whole(1, 4)}`
      const payload = {
        n: name,
        u: `https://way.example${page}`,
        o: age,
        i: interactive,
        ...(engaged > 0 && { e: engaged }),
        ...(user && { x: user }),
      }
      const { status, headers } = await instance.collect(payload, { address })
      expect(status).toBe(202)
      const visit = store({ at, arrival, address, user, request: "" }, { at, name, page, interactive, engaged })
      expect(headers.get("x-plausible-dropped")).toBe(visit ? null : "1")
    },
    /** Sends one request of the site's own server with events, in any order, around one of the last midnights. */
    async backfill(): Promise<void> {
      const arrival = clock.now()
      const day = Temporal.PlainDate.from(dayOf(arrival, zone)).subtract({ days: random.whole(0, BACK) })
      const midnight = day.toZonedDateTime(zone).epochMilliseconds
      const request = `request ${++requests}`
      const events = Array.from({ length: random.whole(2, 6) }, () => ({
        at: Math.min(arrival, midnight + random.whole(-50, 50) * MINUTE + random.whole(0, 59_999)),
        name: random.pick(["pageview", "pageview", "Signup"]),
        page: random.pick(["/", "/a", "/b"]),
        interactive: random.chance(0.6),
        address: `203.0.113.${random.whole(1, 2)}`,
        user: isNamed ? random.pick(["", "", "", "ann", "bob"]) : "",
      }))
      const body = events.map(({ at, name, page, interactive, address, user }) => ({
        ...{ name, url: `https://way.example${page}`, timestamp: at, interactive, ip: address, user_agent: BROWSER },
        ...(user && { user_id: user }),
      }))
      const answer = await instance.api.post(`/api/public/v1/sites/${id}/events`, { events: body }, instance.eventsKey)
      expect(answer).toMatchObject({ status: 202, body: { accepted: events.length } })
      for (const { address, user, ...event } of events.toSorted((a, b) => a.at - b.at))
        store({ at: event.at, arrival, address, user, request }, { ...event, engaged: 0 })
    },
    /** Erases the visits with an event of the given name and page. */
    async erase(): Promise<void> {
      const [name, page] = [random.pick(["pageview", "Signup"]), random.pick(["/a", "/b"])]
      const of = (dimension: string, value: string) => ({ dimension, operator: "is", values: [value] })
      const asked = { from: first, to: dayOf(clock.now(), zone), filters: [of("event", name), of("page", page)] }
      const gone = visits.filter(({ events }) => events.some((event) => event.name === name && event.page === page))
      const preview = await asOwner("POST", "/erase/preview", asked)
      const events = gone.flatMap((visit) => visit.events).filter(isCounted).length
      expect(preview).toMatchObject({ status: 200, body: { visits: gone.length, events } })
      const { confirm } = preview.body as { confirm: string }
      expect((await asOwner("POST", "/erase", { ...asked, confirm })).status).toBe(202)
      let isOver = false
      const drained = instance.app.instance.jobs.drain().finally(() => {
        isOver = true
      })
      // Replaced segments are kept for reports that may still read them.
      while (!isOver) {
        clock.advance(5_000)
        await Bun.sleep(10)
      }
      await drained
      for (const visit of gone) visits.splice(visits.indexOf(visit), 1)
    },
  }
}

test.each(Array.from({ length: WAYS }, (_, i) => SEED + i))(
  "the API answers with what browsers and servers sent, seed %d",
  async (seed) => {
    const random = seededRandom(seed)
    const [zone, now] = ZONES[seed % ZONES.length]!
    await using instance = await startInstance({ now, settings: { limit_visitor_events: "0", api_rate_limit: "0" } })
    const { events: store } = instance.app.instance
    const { visits, send, backfill, erase, ask } = await world(instance, random, { zone, isNamed: seed % 4 < 2 })
    for (let i = 0; i < EVENTS; i++) {
      await send()
      if (random.chance(0.1)) await backfill()
      if (random.chance(0.1)) await store.seal(instance.clock.now(), random.chance(0.5))
      if (random.chance(0.05)) await store.merge(instance.clock.now())
      if (ERASED_AT.includes(i)) await erase()
    }
    const metrics = `metrics=${METRICS.join(",")}`
    expect(await ask(`summary?${metrics}`)).toMatchObject({ metrics: metricsOf(visits, () => true) })
    for (const [interval, bucketOf] of [
      ["day", dayOf],
      ["hour", hourOf],
    ] as const) {
      const { points } = (await ask(`timeseries?interval=${interval}&${metrics}`)) as { points: (Metrics & { time: string })[] }
      for (const { time, ...point } of points)
        expect({ time, ...point }).toMatchObject({ time, ...metricsOf(visits, (at) => bucketOf(at, zone) === time) })
      expect(points.reduce((sum, point) => sum + point.events, 0)).toBe(metricsOf(visits, () => true).events)
    }
  },
  120_000,
)
