import { expect, setDefaultTimeout, test } from "bun:test"
import { bySize, type SmtpServer, smtpServer } from "#plugin/test"
import { type Stand, stand } from "../kit.ts"

setDefaultTimeout(900_000)

const HOUR = 3_600_000
const DAY = 24 * HOUR
const START = "2026-09-30T12:00:00Z"
/** The clock is undisturbed after the fifth week. */
const END = bySize({ check: "2026-11-05T12:00:00Z", full: "2028-11-05T12:00:00Z", release: "2032-11-05T12:00:00Z" })
const ZONES = ["Europe/Berlin", "America/New_York"]

const standWith = (server: SmtpServer, now: string) => {
  const smtp = { smtp_host: "127.0.0.1", smtp_port: String(server.port), smtp_security: "none" }
  return stand([], { now, settings: { ...smtp, base_url: "http://stats.example.org", mail_from: "stats@example.org" } })
}

/** Sets the clock, runs what is due then, and sends the emails. */
async function runAt({ instance, after }: Stand, time: string | number): Promise<void> {
  await after((typeof time === "number" ? time : Date.parse(time)) - instance.clock.now())
  await instance.app.instance.accounts.mail.deliver()
}

/** Sets the clock, which the running process notices, and runs what is due a quarter of an hour later. */
async function setClock(at: Stand, time: string): Promise<void> {
  const { instance } = at
  instance.clock.advance(Date.parse(time) - instance.clock.now())
  await instance.app.instance.schedules.replan()
  await runAt(at, instance.clock.now() + HOUR / 4)
}

/** Runs every twelve hours. */
async function runUntil(at: Stand, end: string): Promise<void> {
  while (at.instance.clock.now() < Date.parse(end)) await runAt(at, at.instance.clock.now() + 12 * HOUR)
}

/** The periods that a recipient received, sorted. */
const periodsOf = (server: SmtpServer, address: string): string[] =>
  server.mails
    .filter(({ to }) => to[0] === address)
    .map(({ text }) => /from=([\d-]+)&to=([\d-]+)/.exec(text)!.slice(1, 3).join(" "))
    .toSorted()

const dayOf = (time: number): string => new Date(time).toISOString().slice(0, 10)

/** Whole periods until a day, by dates alone. */
function periods(kind: string, first: string, end: string): string[] {
  const all: string[] = []
  for (let from = Date.parse(first); ; ) {
    const start = new Date(from)
    const next =
      kind === "daily" ? from + DAY : kind === "weekly" ? from + 7 * DAY : Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1)
    if (next > Date.parse(end.slice(0, 10))) return all
    all.push(`${dayOf(from)} ${dayOf(next - DAY)}`)
    from = next
  }
}

test("each recipient gets each period once, over changes of clocks, outages and clocks that jump", async () => {
  await using server = await smtpServer()
  await using at = await standWith(server, START)
  const { sites } = at.instance.app.instance
  for (const timezone of ZONES) {
    const site = await sites.create(1, { name: timezone, hosts: [`${timezone.toLowerCase().replaceAll(/[/_]/g, "-")}.example`], timezone })
    // Berlin has 2:00 twice on 25 October, New York 1:00 on 1 November. Midnight of New York is the day before in UTC at no time.
    for (const [kind, hour] of [
      ["daily", 2],
      ["weekly", 7],
      ["monthly", 0],
    ] as const) {
      const recipients = [`${kind}-${site.id}-a@example.org`, `${kind}-${site.id}-b@example.org`]
      const made = await at.ask("POST", `/../${site.id}/reports`, { kind, hour, recipients, sections: ["figures"] })
      expect(made.status).toBe(201)
    }
  }
  await runUntil(at, "2026-10-06T12:00:00Z")
  // An outage of a day: everything is sent late.
  await runAt(at, "2026-10-07T12:00:00Z")
  await runUntil(at, "2026-10-11T12:00:00Z")
  // An outage of three days: what is more than 24 hours late is left out.
  await runAt(at, "2026-10-14T12:00:00Z")
  const missing = ["2026-10-11 2026-10-11", "2026-10-12 2026-10-12", "2026-10-05 2026-10-11"]
  await runUntil(at, "2026-10-18T12:00:00Z")
  // The clock is ten days ahead for a moment, and the day before then is reported too early.
  await setClock(at, "2026-10-28T12:00:00Z")
  await setClock(at, "2026-10-18T18:00:00Z")
  await runUntil(at, "2026-10-27T12:00:00Z")
  // The clock is set back by three days.
  await setClock(at, "2026-10-24T12:00:00Z")
  await runUntil(at, END)

  for (const site of [2, 3])
    for (const who of ["a", "b"])
      for (const [kind, first] of [
        ["daily", "2026-09-30"],
        ["weekly", "2026-09-28"],
        ["monthly", "2026-09-01"],
      ] as const) {
        const recipient = `${kind}-${site}-${who}@example.org`
        const expected = periods(kind, first, END).filter((period) => !missing.includes(period))
        expect({ recipient, received: periodsOf(server, recipient) }).toEqual({ recipient, received: expected })
      }
})

test.each([
  // 18:00 on Sunday in UTC is 7:00 on Monday in Auckland, and 7:00 on Monday in Berlin is 6:00 in UTC.
  ["eastwards, to a zone in which it is Monday already", "Europe/Berlin", "Pacific/Auckland"],
  ["westwards, to a zone in which it is still Sunday", "Pacific/Auckland", "Europe/Berlin"],
])("a site that moves %s gets the report of the week once", async (_, before, after) => {
  await using server = await smtpServer()
  await using at = await standWith(server, "2026-11-14T12:00:00Z")
  const { sites } = at.instance.app.instance
  await sites.update(1, { timezone: before })
  await at.work()
  await at.ask("POST", "/reports", { kind: "weekly", recipients: ["ann@example.org"], sections: ["figures"] })
  await runUntil(at, "2026-11-22T12:00:00Z")
  await runAt(at, "2026-11-22T20:00:00Z")
  await sites.update(1, { timezone: after })
  await runAt(at, "2026-11-22T20:05:00Z")
  await runUntil(at, "2026-11-24T12:00:00Z")
  expect(periodsOf(server, "ann@example.org")).toEqual(["2026-11-09 2026-11-15", "2026-11-16 2026-11-22"])
})
