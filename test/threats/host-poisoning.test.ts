import { expect, test } from "bun:test"
import { LISTENING } from "../../src/http/server.ts"
import { ADA, setUp } from "../http/private/browser.ts"
import { sendRaw } from "../http/raw.ts"
import { startInstance, type TestInstance } from "../kit.ts"
import { openMailbox } from "../mailbox.ts"

/** Threat `host-poisoning`: a forged host name in a request appears in no email and selects no other route. */

const BASE = "https://stats.example.org"
const PATH = "/api/private/auth/forgot"
const OWN = "Host: stats.example.org"

/** Request target and headers with a forged host name. */
const SPOOFS: readonly (readonly [string, string, readonly string[]])[] = [
  ["another host", PATH, ["Host: evil.example"]],
  ["another host behind ours", PATH, [OWN, "X-Forwarded-Host: evil.example"]],
  ["a forwarded host in the Forwarded header", PATH, [OWN, "Forwarded: host=evil.example;proto=http"]],
  ["an original host", PATH, [OWN, "X-Original-Host: evil.example", "X-Host: evil.example"]],
  ["an address in the request line", `http://evil.example${PATH}`, [OWN]],
  ["two hosts", PATH, [OWN, "Host: evil.example"]],
  ["two hosts in one header", PATH, ["Host: stats.example.org, evil.example"]],
  ["an empty Host header", PATH, ["Host: "]],
  ["a host of one character", PATH, ["Host: e"]],
  ["a host of three characters", PATH, ["Host: e.x"]],
  ["our host as user information", PATH, ["Host: stats.example.org@evil.example"]],
  ["our host with a suffix", PATH, ["Host: stats.example.org.evil.example"]],
]

async function served(settings: Record<string, string>) {
  let instance: TestInstance | undefined
  const server = Bun.serve({ ...LISTENING, port: 0, hostname: "127.0.0.1", fetch: (request, own) => instance!.app.fetch(request, own) })
  instance = await startInstance({ settings })
  const { port } = server
  return {
    instance,
    port: port!, // set, because the server listens on a port
    async [Symbol.asyncDispose]() {
      await server.stop(true)
      await instance[Symbol.asyncDispose]()
    },
  }
}

test("no forged host name appears in an email or selects another route", async () => {
  await using mailbox = await openMailbox()
  await using target = await served({ base_url: BASE, ...mailbox.settings })
  const { instance, port } = target
  await setUp(instance)
  const body = JSON.stringify({ email: ADA.email })
  const ask = (line: string, headers: readonly string[]) =>
    sendRaw(
      port,
      [`POST ${line} HTTP/1.1`, ...headers, "Content-Type: application/json", `Content-Length: ${body.length}`, "", body].join("\r\n"),
    )
  const statuses: Record<string, number | undefined> = {}
  for (const [name, line, headers] of SPOOFS) {
    const [answer] = await ask(line, headers)
    statuses[name] = answer?.status
    instance.clock.advance(3_600_000)
  }
  expect((await ask(PATH, [OWN]))[0]?.status).toBe(202)
  // Either rejected because the host is not ours, or answered as if the forged name were absent.
  for (const [name, status] of Object.entries(statuses)) expect([name, [202, 400, 421].includes(status ?? 0)]).toEqual([name, true])
  expect(
    Object.entries(statuses)
      .filter(([, status]) => status === 202)
      .map(([name]) => name),
  ).toEqual(["another host behind ours", "a forwarded host in the Forwarded header", "an original host", "an address in the request line"])
  await instance.app.instance.accounts.background.settled()
  await instance.app.instance.accounts.mail.settled()
  const links = mailbox.emails.flatMap(({ text }) => text.match(/https?:\/\/[^\s<>"]+/g) ?? [])
  expect(mailbox.emails.length).toBeGreaterThan(0)
  expect(links.length).toBeGreaterThan(0)
  expect(new Set(links.map((link) => new URL(link).origin))).toEqual(new Set([BASE]))
  expect(JSON.stringify(mailbox.emails)).not.toContain("evil")
})
