import { describe, expect, test } from "bun:test"
import { type Receiver, receiver, type Stand, stand } from "./kit.ts"

/** What people do while a delivery is under way. */

const DAY = 86_400_000

/** Lets the receiver hold its first answer until `release` is called. `arrived` resolves when the request is there. */
function heldAnswer(hook: Receiver, status: number) {
  const arrived = Promise.withResolvers<void>()
  const release = Promise.withResolvers<void>()
  hook.answers.push(async () => {
    arrived.resolve()
    await release.promise
    return new Response(null, { status })
  })
  return { arrived: arrived.promise, release: release.resolve }
}

/** Starts a delivery, does something while the receiver holds its answer, and waits until the delivery has ended. */
async function during(world: Stand, hook: Receiver, status: number, act: () => Promise<unknown>): Promise<void> {
  const held = heldAnswer(hook, status)
  await world.publish("goal.created")
  const work = world.work()
  await held.arrived
  await act()
  held.release()
  await work
}

const errors = ({ instance }: Stand) => instance.log.lines.filter(({ level }) => level === "error")
const deliveries = async ({ ask }: Stand, id: number) => (await ask("GET", `/webhooks/${id}/deliveries`)).body.data

describe("while a delivery is under way", () => {
  test.each([200, 410, 500])("deleting the webhook ends it without an error, whatever the receiver answers: %i", async (status) => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    await during(world, hook, status, async () => expect((await world.ask("DELETE", `/webhooks/${id}`)).status).toBe(204))
    await world.after(DAY)
    expect(hook.received).toHaveLength(1)
    expect(errors(world)).toEqual([])
    expect((await world.ask("GET", `/webhooks/${id}`)).status).toBe(404)
  })

  test("a change is not undone by a receiver that answers 410", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    let secret = ""
    await during(world, hook, 410, async () => {
      const patch = { description: "Moved", events: ["goal.created"], url: hook.url("/new/hook-of-the-receiver-0002") }
      expect((await world.ask("PATCH", `/webhooks/${id}`, patch)).status).toBe(200)
      secret = (await world.ask("POST", `/webhooks/${id}/rotate-secret`)).body.secret
    })
    expect(secret).toStartWith("whsec_")
    // The old URL is gone, the new one is not.
    expect((await world.ask("GET", `/webhooks/${id}`)).body).toMatchObject({
      ...{ enabled: true, failing_since: null, description: "Moved", events: ["goal.created"], version: 3 },
      url: `127.0.0.1:${hook.port}/…0002`,
    })
    await world.publish("goal.created")
    await world.work()
    expect(hook.received.at(-1)).toMatchObject({ path: "/new/hook-of-the-receiver-0002" })
    expect(hook.received.at(-1)!.headers["webhook-signature"]!.split(" ")).toHaveLength(2)
  })

  test("disabling the webhook ends what would be tried again", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    await during(world, hook, 500, async () => world.ask("PATCH", `/webhooks/${id}`, { enabled: false }))
    expect(await deliveries(world, id)).toMatchObject([{ state: "dead", code: "webhook_disabled", next_at: null }])
    await world.ask("PATCH", `/webhooks/${id}`, { enabled: true })
    await world.after(DAY)
    expect(hook.received).toHaveLength(1)
  })

  test.each<[string, { enabled?: boolean; url?: string }, string[]]>([
    ["turning off the webhook", { enabled: false }, ["/old"]],
    ["a new URL", { url: "/new" }, ["/old", "/new", "/new", "/new"]],
  ])("%s ends the requests to the old URL at once", async (_, patch, paths) => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url("/old"))
    const held = heldAnswer(hook, 200)
    for (let i = 0; i < 4; i++) await world.publish("goal.created")
    const work = world.work()
    await held.arrived
    const change = patch.url === undefined ? patch : { url: hook.url(patch.url) }
    expect((await world.ask("PATCH", `/webhooks/${id}`, change)).status).toBe(200)
    held.release()
    await work
    await world.work()
    expect(hook.received.map(({ path }) => path)).toEqual(paths)
  })

  test("the results of slow answers are stored one by one, so that a kill repeats only the last", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    const [first, second] = [heldAnswer(hook, 200), heldAnswer(hook, 200)]
    for (let i = 0; i < 2; i++) await world.publish("goal.created")
    const work = world.work()
    await first.arrived
    world.instance.clock.advance(2_000)
    first.release()
    await second.arrived
    expect(await deliveries(world, id)).toMatchObject([
      { sequence: 2, state: "pending" },
      { sequence: 1, state: "delivered" },
    ])
    second.release()
    await work
  })

  test("of two changes of one version, one is refused", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, i) => world.ask("PATCH", `/webhooks/${id}`, { description: `note ${i}`, version: 1 })),
    )
    expect(answers.map(({ status }) => status).toSorted()).toEqual([200, ...Array(9).fill(409)])
    const { body } = await world.ask("GET", `/webhooks/${id}`)
    expect(body).toEqual(answers.find(({ status }) => status === 200)!.body)
  })
})

describe("disabling a webhook while a retry waits", () => {
  test("ends the retry, and enabling it does not bring it back", async () => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    hook.answers.push(new Response(null, { status: 503, headers: { "retry-after": "3600" } }))
    await world.publish("goal.created")
    await world.work()
    for (const enabled of [false, true]) await world.ask("PATCH", `/webhooks/${id}`, { enabled })
    await world.publish("goal.created")
    await world.work()
    // The pause that the receiver asked for has ended as well.
    expect(hook.received).toHaveLength(2)
    await world.after(DAY)
    expect(hook.received).toHaveLength(2)
    expect(await deliveries(world, id)).toMatchObject([{ state: "delivered" }, { state: "dead", code: "webhook_disabled" }])
  })
})

test("a webhook that is turned off takes neither a test event nor a delivery again", async () => {
  using hook = receiver()
  await using world = await stand([hook])
  const { id } = await world.webhook(hook.url())
  await world.publish("goal.created")
  await world.work()
  await world.ask("PATCH", `/webhooks/${id}`, { enabled: false })
  for (const path of ["test", "deliveries/1/redeliver"])
    expect(await world.ask("POST", `/webhooks/${id}/${path}`)).toMatchObject({
      status: 409,
      body: { code: "invalid_state", detail: "This webhook is turned off. Turn it on to send events to it." },
    })
  await world.work()
  expect(hook.received).toHaveLength(1)
  expect(await deliveries(world, id)).toMatchObject([{ state: "delivered" }])
})

describe("Retry-After", () => {
  test.each([
    ["of years", "999999999999", DAY],
    ["of a date in 2099", "Wed, 25 Nov 2099 00:00:00 GMT", DAY],
    ["that is negative", "-3600", 36_000],
    ["of a date in the past", "Wed, 25 Nov 2020 00:00:00 GMT", 36_000],
    ["that is not a time", "later\u00e9", 36_000],
  ])("%s delays the next attempt by at most a day", async (_, value, wait) => {
    using hook = receiver()
    await using world = await stand([hook])
    const { id } = await world.webhook(hook.url())
    hook.answers.push(() => new Response(null, { status: 429, headers: { "retry-after": value } }))
    await world.publish("goal.created")
    await world.work()
    expect(hook.received).toHaveLength(1)
    await world.after(wait + 1_000)
    expect(await deliveries(world, id)).toMatchObject([{ state: "delivered", attempt: 2 }])
    expect(errors(world)).toEqual([])
  })
})

test("deliveries planned while the clock was a year ahead are attempted once the URL is entered again", async () => {
  using hook = receiver()
  await using world = await stand([hook])
  const { id } = await world.webhook(hook.url())
  world.instance.clock.jump(365 * DAY)
  hook.answers.push(503)
  await world.publish("goal.created")
  await world.work()
  world.instance.clock.jump(-365 * DAY)
  await world.after(2 * DAY)
  expect(hook.received).toHaveLength(1)
  await world.ask("PATCH", `/webhooks/${id}`, { url: hook.url() })
  await world.work()
  expect(await deliveries(world, id)).toMatchObject([{ state: "delivered", attempt: 2 }])
})
