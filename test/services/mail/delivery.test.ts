import { expect, setDefaultTimeout, test } from "bun:test"
import { sql } from "../../../src/store/sql.ts"
import { startInstance, type TestInstance } from "../../kit.ts"
import { longTest } from "../../size.ts"
import { type SmtpServer, smtpServer } from "./smtp-server.ts"

setDefaultTimeout(60_000)

const start = ({ port }: SmtpServer) =>
  startInstance({ settings: { smtp_host: "127.0.0.1", smtp_port: String(port), smtp_security: "none" } })

/** Queues emails to these addresses in one transaction. Their subjects are their positions. */
async function queue({ app }: TestInstance, addresses: readonly string[]): Promise<void> {
  const { catalog, accounts } = app.instance
  await catalog.transaction(async (statements) => {
    for (const [index, to] of addresses.entries()) await accounts.mail.post(statements, { to, subject: String(index), text: "Hello" })
  })
}
const waiting = ({ app }: TestInstance) =>
  app.instance.catalog
    .all<{ attempts: number }>(sql`select attempts from mails order by id`)
    .then((rows) => rows.map(({ attempts }) => attempts))
const people = (count: number, domain: string) => Array.from({ length: count }, (_, index) => `person-${index}@${domain}`)

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(5)
}

test("a hanging dialogue delays no email to other domains, and stays queued when the instance stops", async () => {
  await using server = await smtpServer()
  const instance = await start(server)
  server.hanging = /@hanging\.example/
  // Emails to the hanging domain come first, and are more than there are connections.
  await queue(instance, [...people(12, "hanging.example"), ...people(40, "example.org")])
  const { mail } = instance.app.instance.accounts
  const began = performance.now()
  mail.wake()
  await until(() => server.mails.length === 40)
  // An email that is queued now is not delayed either.
  await mail.send({ to: "late@example.org", subject: "Sign in", text: "Now" })
  await until(() => server.mails.length === 41)
  expect(performance.now() - began).toBeLessThan(20_000) // the time limit of a dialogue
  expect(server.said.filter((line) => line.startsWith("RCPT") && line.includes("hanging")).length).toBeLessThanOrEqual(4)
  await until(async () => (await waiting(instance)).length === 12) // an accepted email is removed after the answer

  const stopped = performance.now()
  await mail.stop()
  expect(performance.now() - stopped).toBeLessThan(5_000)
  // They were not refused, so the next start sends them at once.
  expect(await waiting(instance)).toEqual(Array(12).fill(0))
  mail.wake()
  await mail.settled()
  expect(server.mails).toHaveLength(41)
  await instance[Symbol.asyncDispose]()
})

test("a slow server gets emails over several connections, each once, and those to one address in order", async () => {
  await using server = await smtpServer()
  await using instance = await start(server)
  server.pause = 150
  const addresses = Array.from({ length: 60 }, (_, index) => `person-${index % 3}@example-${index % 3}.org`)
  await queue(instance, addresses)
  const { mail } = instance.app.instance.accounts
  const began = performance.now()
  await mail.deliver()
  expect(performance.now() - began).toBeLessThan(60 * 150)
  expect(server.mails).toHaveLength(60)
  for (const [to, mails] of Map.groupBy(server.mails, ({ to }) => to[0]!)) {
    const order = mails.map(({ headers }) => Number(headers.get("subject")))
    expect({ to, order }).toEqual({ to, order: order.toSorted((a, b) => a - b) })
  }
  expect(await waiting(instance)).toEqual([])
})

test("a link for a sign-in is sent before the reports that were queued earlier", async () => {
  await using server = await smtpServer()
  await using instance = await start(server)
  const { catalog, accounts } = instance.app.instance
  await catalog.transaction(async (statements) => {
    for (const to of people(120, "example.org"))
      await accounts.mail.post(statements, { to, subject: "Report", text: "Hi", key: "reports:1" })
  })
  await accounts.mail.send({ to: "ann@example.net", subject: "Reset your password", text: "Hello" })
  await accounts.mail.deliver()
  expect(server.mails).toHaveLength(121)
  // Those that were loaded before it may come first.
  expect(server.mails.findIndex(({ to }) => to[0] === "ann@example.net")).toBeLessThanOrEqual(50)
})

test("few emails use one connection, and leave none open", async () => {
  await using server = await smtpServer()
  await using instance = await start(server)
  await queue(instance, people(5, "example.org"))
  await instance.app.instance.accounts.mail.deliver()
  expect(server.said.filter((line) => line.startsWith("EHLO"))).toHaveLength(1)
  await until(() => server.connections() === 0)
})

test("an email whose dialogue was cut is sent again only after its pause", async () => {
  await using server = await smtpServer()
  await using instance = await start(server)
  server.cutOff()
  await queue(instance, people(3, "example.org"))
  const { mail } = instance.app.instance.accounts
  await mail.deliver()
  // The server had the first one already, which the client cannot know.
  expect(server.mails.map(({ to }) => to[0])).toEqual(people(3, "example.org"))
  expect(await waiting(instance)).toEqual([1])
  instance.clock.advance(60_000)
  await mail.deliver()
  const copies = server.mails.filter(({ to }) => to[0] === "person-0@example.org").map(({ headers }) => headers.get("message-id"))
  expect(copies).toEqual([copies[0]!, copies[0]!])
  expect(await waiting(instance)).toEqual([])
})

test.each(["554 no service for you", "421 too many connections"])(
  "a server that ends the dialogue with %s refuses no recipient",
  async (greeting) => {
    await using server = await smtpServer()
    await using instance = await start(server)
    server.greeting = greeting
    await queue(instance, ["ann@example.org"])
    const { mail } = instance.app.instance.accounts
    await mail.deliver()
    expect(await waiting(instance)).toEqual([1])
    server.greeting = undefined
    instance.clock.advance(60_000)
    await mail.deliver()
    expect(server.mails).toHaveLength(1)
  },
)

longTest(
  "a server that sends a letter now and then is given up after a minute",
  async () => {
    await using server = await smtpServer()
    await using instance = await start(server)
    server.trickle = 5_000
    await queue(instance, ["ann@example.org"])
    const began = performance.now()
    await instance.app.instance.accounts.mail.deliver()
    // A server that is silent is given up after 20 seconds.
    expect(performance.now() - began).toBeGreaterThan(55_000)
    expect(await waiting(instance)).toEqual([1])
  },
  120_000,
)
