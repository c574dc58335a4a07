import { expect, test } from "bun:test"
import { Glob } from "bun"
import { bundleDashboard, GUEST_SCRIPT, SHARE_SCRIPT, UNUSED_METHODS } from "../../src/http/dashboard/bundle.ts"

const KB = 1_000
const ROOT = new URL("../../", import.meta.url).pathname
const parts = await bundleDashboard()
const gzip = (bytes: Uint8Array<ArrayBuffer>): number => Bun.gzipSync(bytes, { level: 9 }).length
const text = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)
const at = (path: string) => parts.find((part) => part.path === path)

/** Returns the scripts that a page needs initially: its own and all static imports. */
function scriptsFor(path: string, seen = new Set<string>()): Set<string> {
  if (seen.has(path)) return seen
  seen.add(path)
  const source = text(at(path)?.bytes ?? new Uint8Array())
  for (const [, imported] of source.matchAll(/(?:from|import)\s*"(\/assets\/[^"]+\.js)"/g)) scriptsFor(imported!, seen)
  return seen
}

const page = text(at("/")!.bytes)
const entry = /\/assets\/[^"]+\.js/.exec(page)![0]
const first = scriptsFor(entry)
const guest = scriptsFor(parts.find(({ path }) => GUEST_SCRIPT.test(path))!.path)
const share = scriptsFor(parts.find(({ path }) => SHARE_SCRIPT.test(path))!.path)
/** The page of each kind of share. Its parts are loaded after it. */
const sharePages = parts.filter(({ path }) => /\/shared-[^/]+\.js$/.test(path)).map(({ path }) => path)
const ofShares = new Set([...share, ...sharePages.flatMap((path) => [...scriptsFor(path)])])
/** Returns the scripts that are loaded before a lazily loaded one: the initial scripts of its bundle. */
const before = (path: string) =>
  [first, guest, ofShares].find((bundle) => [...scriptsFor(path)].some((one) => bundle.has(one))) ?? new Set()
/** Returns the scripts that a bundle can load, now or later. */
function everythingFrom(paths: readonly string[], seen = new Set<string>()): Set<string> {
  for (const path of paths.flatMap((one) => [...scriptsFor(one)])) {
    if (seen.has(path)) continue
    seen.add(path)
    const lazy = [...text(at(path)!.bytes).matchAll(/import\("(\/assets\/[^"]+\.js)"\)/g)].map(([, imported]) => imported!)
    everythingFrom(lazy, seen)
  }
  return seen
}
const weigh = (paths: Iterable<string>): number => [...paths].reduce((sum, path) => sum + gzip(at(path)!.bytes), 0)

test("the first view of the dashboard loads at most 72 kB of scripts, 14 kB of styles and 35 kB of fonts", () => {
  // The styles of the plugins' pages are loaded with the first of them.
  const styles = parts.filter(({ type, path }) => type.startsWith("text/css") && page.includes(path))
  const font = at("/assets/hanken-grotesk.woff2")!.bytes.length
  const weights = { scripts: weigh(first), styles: weigh(styles.map(({ path }) => path)), font }
  console.log(`first view: ${JSON.stringify(weights)} bytes`)
  expect(weights.scripts).toBeLessThanOrEqual(72 * KB)
  expect(weights.styles).toBeLessThanOrEqual(14 * KB)
  expect(weights.font).toBeLessThanOrEqual(35 * KB)
  expect(weights.scripts + weights.styles + weights.font + gzip(at("/")!.bytes)).toBeLessThanOrEqual(150 * KB)
})

test("the sign-in page loads at most 40 kB of scripts, and none of the dashboard", () => {
  const lazy = parts.filter(({ path }) => /\/(sign-in|later)-[^/]+\.js$/.test(path) && before(path) !== first)
  const signIn = new Set([...guest, ...lazy.flatMap(({ path }) => [...scriptsFor(path)])])
  console.log(`sign-in page: ${weigh(signIn)} bytes of scripts`)
  expect(weigh(signIn)).toBeLessThanOrEqual(40 * KB)
  // The chart library is the largest part of the dashboard.
  const drawsCharts = (path: string) => text(at(path)!.bytes).includes("u-over")
  expect([...first].filter(drawsCharts)).toHaveLength(1)
  expect([...signIn].filter(drawsCharts)).toEqual([])
})

test("a page of a share loads at most 75 kB of scripts, and its bundle contains no screen for members", () => {
  for (const path of sharePages) {
    const loaded = new Set([...share, ...scriptsFor(path)])
    console.log(`${path}: ${weigh(loaded)} bytes of scripts`)
    expect(weigh(loaded)).toBeLessThanOrEqual(75 * KB)
  }
  expect(sharePages.length).toBeGreaterThan(0)
  const reachable = [...everythingFrom([...share])].map((path) => text(at(path)!.bytes)).join("\n")
  expect(reachable).toContain("Enter the password")
  for (const words of ["Invite a member", "Create API key", "Impersonate"]) {
    expect(parts.some(({ bytes }) => text(bytes).includes(words))).toBe(true)
    expect(reachable).not.toContain(words)
  }
})

test("any other screen adds at most 30 kB, the map 60 kB", () => {
  const scripts = parts.filter(
    ({ path }) => path.endsWith(".js") && !first.has(path) && !guest.has(path) && !share.has(path) && !/\/shared-/.test(path),
  )
  const heavy = scripts.flatMap(({ path }) => {
    const loaded = before(path)
    const added = weigh([...scriptsFor(path)].filter((one) => !loaded.has(one)))
    const bar = path.includes("map") ? 60 * KB : 30 * KB
    return added > bar ? [`${path}: ${added}`] : []
  })
  expect(heavy).toEqual([])
})

test("no screen calls a method that is removed from the query client", async () => {
  const places = ["src/ui/**/*.{ts,tsx}", "plugins/*/ui/**/*.{ts,tsx}"]
  const files = places.flatMap((place) => [...new Glob(place).scanSync({ cwd: ROOT, absolute: true })])
  expect(files.length).toBeGreaterThan(100)
  const calls = await Promise.all(
    files.map(async (file) => {
      const source = await Bun.file(file).text()
      return UNUSED_METHODS.filter((name) => source.includes(`.${name}(`)).map((name) => `${file}: ${name}`)
    }),
  )
  expect(calls.flat()).toEqual([])
})
