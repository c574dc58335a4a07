import { expect, test } from "bun:test"
import { readdirSync, readFileSync, statSync } from "node:fs"
import { join } from "node:path"
import { startInstance } from "../kit.ts"

/** Threat `address-leak`: a visitor's address is stored nowhere after the event is processed. Core dumps are not covered. */

const V4 = "203.0.113.77"
const V6 = "2001:db8:5a7e:9c31:4f0d:1b2e:77aa:e1c4"
const bytesOf = (text: string) => Buffer.from(text.replaceAll(":", "").padStart(32, "0"), "hex")
const V4_BYTES = Buffer.from(V4.split(".").map(Number))

/** IPv4 as four raw bytes is left out: four bytes occur by chance in any file of a few megabytes. */
const ENCODINGS: Readonly<Record<string, Buffer>> = {
  text: Buffer.from(V4),
  "IPv6 text": Buffer.from(V6),
  "IPv6 text without colons": Buffer.from(V6.replaceAll(":", "")),
  bytes: bytesOf(V6),
  "bytes in base64": Buffer.from(bytesOf(V6).toString("base64").slice(0, 20)),
  hexadecimal: Buffer.from(V4_BYTES.toString("hex")),
  "a number": Buffer.from(String(V4_BYTES.readUInt32BE())),
  "IPv4 mapped to IPv6": Buffer.from(`::ffff:${V4}`),
}

const filesUnder = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())

const foundIn = (bytes: Buffer): string[] => Object.keys(ENCODINGS).filter((name) => bytes.includes(ENCODINGS[name]!))

test("no visitor address appears in a store, its write-ahead log, a backup, an export, a response or the log", async () => {
  await using instance = await startInstance({ settings: { log_level: "debug" } })
  const { app, api, key, dataDir, log } = instance
  const pages = ["/", "/pricing", "/thanks"].map((page) => ({ n: "pageview", u: `https://shop.example${page}`, d: "shop.example" }))
  const refused = { n: "pageview", u: "https://evil.example/", d: "shop.example" }
  for (const address of [V4, V6])
    for (const payload of [...pages, refused, { n: "", d: "shop.example" }]) await instance.collect(payload, { address })
  await app.instance.events.seal(instance.clock.now() + 86_400_000, true)
  for (const address of [V4, V6]) await instance.collect(pages[0], { address })
  await app.instance.backups.create("manual")
  const exported = [
    await api.get("/api/public/v1/sites/1/export?type=events&format=ndjson&period=today", key),
    await api.get("/api/public/v1/sites/1/export?type=visits&format=csv&period=today", key),
  ]
  expect(exported.map(({ status }) => status)).toEqual([200, 200])

  const files = filesUnder(dataDir)
  const names = files.map((path) => path.slice(dataDir.length + 1))
  expect(names).toContain("events.db-wal")
  expect(names.filter((name) => /^backups.*events\.db$/.test(name))).toHaveLength(1)
  // Verifies the search itself: the stored page paths are found.
  expect(files.some((path) => readFileSync(path).includes("/pricing"))).toBe(true)
  const leaks = files.flatMap((path, i) => foundIn(readFileSync(path)).map((encoding) => `${names[i]}: ${encoding}`))
  const exposed = foundIn(Buffer.from(JSON.stringify(log.lines) + JSON.stringify(exported.map(({ body }) => body))))
  expect([...leaks, ...exposed]).toEqual([])
})
