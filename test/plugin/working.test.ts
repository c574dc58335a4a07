import { expect, test } from "bun:test"
import { Type as t } from "@sinclair/typebox"
import { type Contribution, type Job, sql } from "#plugin"
import { startInstance, type TestInstance } from "#plugin/test"
import { notes } from "./notes.ts"

const path = "/api/private/sites/1/notes"
const DAY = 86_400_000

async function withNote(instance: TestInstance, text = "one"): Promise<{ cookie: string }> {
  const editor = { cookie: await instance.signIn({ role: "editor" }) }
  expect(await instance.api.post(path, { text }, undefined, editor)).toMatchObject({ status: 201 })
  return editor
}

test("a plugin's job runs under its name and as the system while the plugin is enabled", async () => {
  const plugin = notes(
    {},
    ({ db, audit, services }): Contribution => ({
      jobs: {
        "shout-notes": {
          interrupted: "resume",
          schedule: { cron: "0 13 * * *", timezone: "UTC" },
          async run({ job, progress }) {
            await db.transaction(async (statements) => {
              await statements.run(sql`update notes_notes set text = upper(text)`)
              const target = { type: "job", id: job.id, label: services.sites.directory.byId(1)?.name ?? "" }
              await audit.write(statements, audit.system, { action: "notes.notes.shout", target })
            })
            progress({ phase: "done", done: 1, total: 1 })
          },
        },
      },
    }),
  )
  await using instance = await startInstance({ plugins: [plugin] })
  const { app, clock } = instance
  await withNote(instance)
  const textOf = async () => (await instance.api.get("/n/1")).body
  await app.instance.plugins.turn("notes", false, null)
  await instance.runJobs()
  clock.advance(DAY)
  await instance.runJobs()
  await app.instance.plugins.turn("notes", true, null)
  expect(await textOf()).toBe("Hello, one")
  clock.advance(DAY)
  await instance.runJobs()
  expect(await textOf()).toBe("Hello, ONE")
  const page = { before: Number.MAX_SAFE_INTEGER, limit: 9 }
  expect(await app.instance.jobs.list({ kind: "notes.shout-notes" }, page)).toMatchObject([
    { state: "done", slot: "2026-11-22T13:00:00.000Z", progress: { phase: "done", done: 1, total: 1 } },
  ])
  const row = await app.instance.catalog.get(sql`select actor_kind, actor_email from audit_log where action = 'notes.notes.shout'`)
  expect(row).toEqual({ actor_kind: "system", actor_email: "plugin notes" })
})

test("a job is committed with the transaction that enqueues it, and belongs only to its plugin", async () => {
  const received: unknown[] = []
  const plugin = notes(
    {},
    ({ db, jobs }): Contribution => ({
      jobs: {
        "count-notes": {
          interrupted: "resume",
          run: async () => void received.push(await db.get(sql`select count(*) as n from notes_notes`)),
        },
        "make-note": {
          interrupted: "fail",
          run: async () => {
            await db.transaction(async (statements) => {
              await statements.run(sql`insert into notes_notes (site_id, text) values (1, 'by a job')`)
              await jobs.enqueue("count-notes", { siteId: 1 }, statements)
            })
            received.push(
              (await jobs.list({ siteId: 1 }, { limit: 5 })).map(({ kind }) => kind),
              await jobs.get(1),
              await jobs.cancel(1),
            )
          },
        },
      },
    }),
  )
  await using instance = await startInstance({ plugins: [plugin] })
  const { jobs } = instance.app.instance
  jobs.define("core.something", { interrupted: "fail", run: async () => {} })
  await jobs.enqueue({ kind: "core.something", siteId: 1, runAt: instance.clock.now() + 1 })
  await jobs.enqueue({ kind: "notes.make-note" })
  await instance.runJobs()
  expect(received).toEqual([["notes.count-notes"], undefined, undefined, { n: 1 }])
})

test("a product event reaches its enabled consumers in the order of the changes", async () => {
  const seen: unknown[] = []
  const refused: unknown[] = []
  const listener = notes(
    { events: { "note.sent": { title: "Note sent", payload: t.Object({ n: t.Integer() }) } } },
    ({ outbox, db }): Contribution => ({
      consumers: {
        mirror: { events: ["note.*"], consume: async ({ event, payload, site_id }) => void seen.push([event, payload, site_id]) },
      },
      jobs: {
        "send-two": {
          interrupted: "fail",
          run: async () => {
            await db.transaction((statements) =>
              outbox.write(statements, { event: "note.sent", organizationId: 1, siteId: 1, payload: { n: 1 } }),
            )
            await outbox.writeAlone({ event: "note.sent", organizationId: 1, payload: { n: 2 } })
            await outbox.writeAlone({ event: "internal.other", organizationId: 1 })
            await outbox.writeAlone({ event: "note.lost", organizationId: 1 }).catch((error) => refused.push(error.message))
          },
        },
      },
    }),
  )
  await using instance = await startInstance({ plugins: [listener] })
  await instance.runJobs()
  await instance.app.instance.jobs.enqueue({ kind: "notes.send-two" })
  await instance.runJobs()
  expect(seen).toEqual([
    ["note.sent", { n: 1 }, 1],
    ["note.sent", { n: 2 }, null],
  ])
  // Nobody could subscribe to an event that is not declared.
  expect(refused).toEqual(["No plugin declares the product event note.lost"])
})

test("deletes, retains and erases a plugin's data while it is disabled", async () => {
  const called: unknown[] = []
  const plugin = notes(
    {},
    ({ db }): Contribution => ({
      async onSiteDelete(siteId) {
        const gone = await db.all(sql`delete from notes_notes where site_id = ${siteId} returning id`)
        return { notes: gone.length }
      },
      onRetention: async (siteId, day) => {
        called.push(["retention", siteId, day])
        return { days: 3 }
      },
      onPersonErase: async (siteId, visitor) => {
        called.push(["erase", siteId, visitor, (await visitorsOf(instance)).includes(visitor)])
        return {}
      },
    }),
  )
  await using instance = await startInstance({ plugins: [plugin] })
  const { app, clock } = instance
  await withNote(instance)
  for (const address of ["198.51.100.1", "198.51.100.2"])
    await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example" }, { address })
  await app.instance.plugins.turn("notes", false, null)

  const { hooks, erasure } = app
  const [first] = await visitorsOf(instance)
  expect(await erasure.person(1, [first!])).toMatchObject({ visits: 1 })
  expect(await visitorsOf(instance)).toHaveLength(1)
  expect(await erasure.person(1, ["0000000000000000"])).toMatchObject({ visits: 0 })
  expect(await hooks.onRetention(1, "2026-11-01")).toEqual({ notes_days: 3 })
  expect(called).toEqual([
    // Before the visits of the person are removed, and after.
    ["erase", 1, first, true],
    ["erase", 1, first, false],
    ["erase", 1, "0000000000000000", false],
    ["erase", 1, "0000000000000000", false],
    ["retention", 1, "2026-11-01"],
  ])

  await app.instance.sites.remove(1)
  await instance.runJobs()
  clock.advance(31 * DAY)
  await instance.runJobs()
  expect(await app.instance.catalog.all(sql`select id from notes_notes`)).toEqual([])
  expect(await app.instance.catalog.all(sql`select id from sites`)).toEqual([])
  expect(await visitorsOf(instance)).toEqual([])
})

/** Returns the pseudonyms of all stored visits. */
async function visitorsOf({ app }: TestInstance): Promise<string[]> {
  const { events } = app.instance
  const seen: string[] = []
  const { pseudonyms } = await import("../../src/query/show/pseudonyms.ts")
  const key = new Uint8Array(32)
  // An erasure that selects nothing reads everything and removes nothing.
  const siteKey = await app.instance.siteKeys.siteKey(1).catch(() => key)
  await events.erase(
    1,
    (part) => {
      seen.push(...pseudonyms(siteKey, "visitor")([...part.visit("visitor").subarray(0, part.visits)]))
      return new Uint8Array(part.visits)
    },
    0,
  )
  return seen
}

test("a failing hook does not prevent the others from running, and is retried", async () => {
  let failures = 1
  const plugins = ["first", "second"].map((id) =>
    notes({
      id,
      paths: {},
      permissions: {},
      migrations: [],
      settings: undefined as never,
      setup: () => ({
        onSiteDelete: async () => {
          if (id === "first" && failures-- > 0) throw new Error("made up")
          return { rows: 1 }
        },
      }),
    }),
  )
  await using instance = await startInstance({ plugins })
  const { erasure } = instance.app
  await expect(erasure.site(1)).rejects.toThrow("onSiteDelete failed for 1 plugin(s)")
  expect(await erasure.site(1)).toEqual({ visits: 0, imported_totals: 0, first_rows: 1, second_rows: 1 })
})

test("the progress of a job is a stream of events that ends with it", async () => {
  const steps = Promise.withResolvers<void>()
  const plugin = notes(
    { paths: { site: ["notes", "tasks"], open: [{ setting: "prefix" }] } },
    (host): Contribution => ({
      jobs: {
        "do-work": {
          interrupted: "resume",
          async run({ progress }) {
            progress({ phase: "reading", done: 1, total: 4 })
            await steps.promise
            progress({ phase: "writing", done: 3, total: 4 })
          },
        },
      },
      routes: [
        host.siteRouter().get(
          "/tasks/:id",
          async ({ params, request, server, status }) => {
            const job = await host.jobs.get(Number(params.id))
            const show = (shown: Job) => ({ state: shown.state, progress: host.jobs.progressOf(shown) })
            return job ? host.jobs.stream(job, { request, server }, show) : status(404, "")
          },
          { can: "notes:read", detail: { summary: "Follow a job" } },
        ),
      ],
    }),
  )
  await using instance = await startInstance({ plugins: [plugin] })
  const headers = { cookie: await instance.signIn({ role: "viewer" }) }
  const { jobs } = instance.app.instance
  await jobs.enqueue({ kind: "notes.do-work" })
  await jobs.tick()
  const response = await instance.fetch(new Request("http://localhost/api/private/sites/1/tasks/1", { headers }))
  expect(response.headers.get("content-type")).toBe("text/event-stream; charset=utf-8")
  setTimeout(steps.resolve, 700)
  const text = await response.text()
  const events = text
    .split("\n\n")
    .filter((part) => part !== "")
    .map((part) => part.split("\n"))
  expect(events.map(([name]) => name)).toEqual(["event: progress", "event: progress", "event: end"])
  expect(JSON.parse(events[0]![1]!.slice(6))).toMatchObject({ state: "running", progress: { phase: "reading", done: 1, fraction: 0.25 } })
  expect(JSON.parse(events[2]![1]!.slice(6))).toEqual({ state: "done", progress: { phase: "writing", done: 3, total: 4, fraction: 0.75 } })
  // A finished job has only its end event.
  const again = await instance.fetch(new Request("http://localhost/api/private/sites/1/tasks/1", { headers }))
  expect((await again.text()).startsWith("event: end\n")).toBe(true)
})

test.each([
  ["count", "notes: the job count does not have the form <verb>-<noun>", {}],
  [
    "count-notes",
    "notes: the schedule 99 * * * * of the job count-notes is not a cron expression of five fields",
    { schedule: { cron: "99 * * * *" } },
  ],
])("an invalid job %s prevents the start", async (name, message, more) => {
  const plugin = notes({}, () => ({ jobs: { [name]: { interrupted: "fail", run: async () => {}, ...more } } }))
  const failure = await startInstance({ plugins: [plugin] }).catch((error: unknown) => error)
  expect(failure).toMatchObject({ exit: "configuration", message: `The plugin ${message}` })
})
