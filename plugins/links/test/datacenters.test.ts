import { expect, test } from "bun:test"
import { utimesSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { temporaryFolder } from "#plugin/test"
import { GOOGLEBOT, linkStand, PATH } from "./kit.ts"

const destination = "https://example.com/"

function listIn(folder: { path: string }, text: string): string {
  const path = join(folder.path, "datacenters.txt")
  writeFileSync(path, text)
  return path
}

test("counts clicks from listed address ranges as bots, also through proxies, and not towards the limit", async () => {
  using folder = temporaryFolder()
  const link_datacenters = listIn(folder, "# Hosting\n203.0.113.0/25\n2001:db8:5::/48\n")
  await using stand = await linkStand({ settings: { link_datacenters } })
  const { id, slug } = await stand.make({ destination, max_clicks: 2 })
  const from = (address: string, more = {}) => stand.visit(`/l/${slug}`, { address, ...more })
  const forwarded = (address: string) => from("127.0.0.1", { headers: { "x-forwarded-for": address } })
  const answers = [
    await from("203.0.113.127"),
    await from("203.0.113.1", { headers: { "user-agent": GOOGLEBOT } }),
    await forwarded("2001:db8:5:1::9"),
    // An address next to the ranges, and one forwarded by an untrusted proxy.
    await from("203.0.113.128"),
    await from("198.51.100.9", { headers: { "x-forwarded-for": "203.0.113.1" } }),
  ]
  expect(answers.map((answer) => answer.headers.get("location"))).toEqual(Array(5).fill(destination))
  expect((await from("198.51.100.10")).status).toBe(410)
  expect((await from("203.0.113.5")).status).toBe(410)
  await stand.recorded()
  expect((await stand.ask("GET", `${PATH}/${id}/stats?period=today`)).body).toMatchObject({
    clicks: { total: 5, human: 2, bot: 3 },
    bot_reasons: { datacenter: 2, ua: 1 },
  })
})

test("counts no click as from a data centre without a list", async () => {
  await using stand = await linkStand()
  const { id, slug } = await stand.make({ destination })
  await stand.visit(`/l/${slug}`, { address: "203.0.113.1" })
  await stand.recorded()
  expect((await stand.ask("GET", `${PATH}/${id}/stats?period=today`)).body).toMatchObject({ clicks: { human: 1, bot: 0 }, bot_reasons: {} })
})

test("reloads a changed list without a restart, and keeps the old one with a single warning if it cannot be read", async () => {
  using folder = temporaryFolder()
  const link_datacenters = listIn(folder, "203.0.113.0/25\n")
  await using stand = await linkStand({ settings: { link_datacenters } })
  const { app, log } = stand.instance
  let seconds = 1_000
  /** Reloads the list as the task of every minute does. */
  const write = async (text: string) => {
    utimesSync(listIn(folder, text), ++seconds, seconds)
    for (const { run } of app.plugins.tasks) await run(new AbortController().signal)
  }
  const listed = async (address: string) => {
    const { id, slug } = await stand.make({ destination })
    await stand.visit(`/l/${slug}`, { address })
    await stand.recorded()
    return (await stand.ask("GET", `${PATH}/${id}/stats?period=today`)).body.bot_reasons.datacenter === 1
  }
  const both = async () => [await listed("203.0.113.1"), await listed("198.51.100.1")]
  expect(await both()).toEqual([true, false])
  await write("198.51.100.0/24\n")
  expect(await both()).toEqual([false, true])
  await write("203.0.113.0/25\n198.51.100.0/33\n")
  await write("203.0.113.0/25\n198.51.100.0/33\n")
  expect(await both()).toEqual([false, true])
  const cause = 'line 2: "198.51.100.0/33" is not an address or range such as 192.0.2.0/24 or 2001:db8::/32'
  expect(log.lines.filter(({ level }) => level === "warn")).toEqual([
    {
      level: "warn",
      message: "a list of addresses cannot be read; the old one stays in use",
      fields: { setting: "link_datacenters", path: link_datacenters, cause },
    },
  ])
  await write("203.0.113.0/25\n")
  expect(await both()).toEqual([true, false])
})

test("refuses to start with a malformed list, naming the setting, the file and the line", async () => {
  using folder = temporaryFolder()
  const path = listIn(folder, "203.0.113.0/24\n\nexample.com # hosting\n")
  const refused = (link_datacenters: string) => linkStand({ settings: { link_datacenters } }).catch((error: unknown) => error)
  expect(await refused(path)).toMatchObject({
    exit: "configuration",
    message: `The plugin links: setup failed: link_datacenters: ${path}: line 3: "example.com # hosting" is not an address or range such as 192.0.2.0/24 or 2001:db8::/32`,
  })
  expect(await refused("/nowhere/list.txt")).toMatchObject({
    exit: "configuration",
    message: "The plugin links: setup failed: link_datacenters: /nowhere/list.txt: cannot be read (ENOENT)",
  })
})
