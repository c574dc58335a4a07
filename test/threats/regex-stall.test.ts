import { expect, test } from "bun:test"
import { Glob } from "bun"
import fc from "fast-check"
import { checkSync } from "recheck"
import { wildcardMatcher } from "../../src/domain/filter.ts"
import { normalizeUnicode } from "../../src/domain/text.ts"
import { startInstance } from "../kit.ts"
import { longTest } from "../size.ts"

// Text from users never becomes a regular expression. Their patterns run in a linear matcher; our own expressions are results by
// their structure, so that no result here depends on the speed of the machine.

/** Runs the checker in this process instead of a subprocess. */
process.env.RECHECK_SYNC_BACKEND = "pure"

/** Matches a comment, a string, or a regular expression literal, capturing the body and flags of the latter. */
const TOKEN =
  /\/\/[^\n]*|\/\*[\s\S]*?\*\/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'|`(?:[^`\\]|\\[\s\S])*`|(?<=(?:[(,=:[!&|?{};+]|=>|\breturn)\s*)\/((?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)\/([dgimsuvy]*)/g

const files = Array.from(new Glob("{src,plugins,config}/**/*.{ts,tsx}").scanSync(".")).filter((path) => !path.includes("/test/"))
const sources = await Promise.all(files.map(async (path) => ({ path, text: await Bun.file(path).text() })))

/** Expressions that would be slow on long text, with the reason why their input is short. */
const SHORT: Readonly<Record<string, string>> = {
  "/\\/+$/": "the base URL, from the operator's settings",
  "/^\\/+|\\/+$/g": "a plugin's path, from the operator's settings",
  "/0+$/": "digits of an amount, at most 40",
  "/^-+|-+$/g": "a requested slug, truncated before",
  "/([\\w-]+)\\/:(\\w+)/g": "the path of one of our own routes",
  '/\\/assets\\/[^"]+\\.js/g': "the dashboard's own HTML",
}

function expressions(): Set<string> {
  const found = new Set<string>()
  for (const { text } of sources)
    for (const [, body, flags = ""] of text.matchAll(TOKEN))
      if (body !== undefined && isExpression(body, flags)) found.add(`/${body}/${flags}`)
  return found
}

/** The end of one tag and the start of the next look like a regular expression. */
function isExpression(body: string, flags: string): boolean {
  try {
    new RegExp(body, flags)
    return !body.startsWith(">")
  } catch {
    return false
  }
}

longTest(
  "our own expressions run in linear time, except on short input",
  () => {
    const results = [...expressions()].map((expression) => {
      const end = expression.lastIndexOf("/")
      const { status } = checkSync(expression.slice(1, end), expression.slice(end + 1), { checker: "automaton", timeout: 60_000 })
      return { expression, status }
    })
    expect(results.length).toBeGreaterThan(200)
    expect(results.filter(({ expression, status }) => status !== "safe" && !(expression in SHORT))).toEqual([])
    expect(
      Object.keys(SHORT).filter((expression) => !results.some((one) => one.expression === expression && one.status !== "safe")),
    ).toEqual([])
  },
  180_000,
)

test("expressions are built at run time only from our own constants", () => {
  const making = sources.filter(({ text }) => /\bRegExp\(/.test(text)).map(({ path }) => path)
  expect(making.sort()).toEqual([
    "plugins/imports/sources/region-names.ts", // words of its own list
    "src/domain/relative-period.ts", // the pattern that the API document has, too
    "src/http/dashboard/bundle.ts", // names of functions in libraries, when the dashboard is built
    "src/http/router.ts", // route paths
    "src/http/tracker.ts", // names of script variants
    "src/services/backup/bucket.ts", // tag names
    "src/tracker/tracker.ts", // runs in the browser, on what the site's owner wrote into the page
  ])
})

/** A text that records how it is read. Each search may read everything after its start. */
function countReads(text: string) {
  const reading = { searches: 0, backwards: 0 }
  let last = 0
  const reader = {
    length: text.length,
    startsWith: (piece: string) => text.startsWith(piece),
    endsWith: (piece: string) => text.endsWith(piece),
    indexOf(piece: string, at: number) {
      reading.searches++
      if (at < last) reading.backwards++
      const found = text.indexOf(piece, at)
      if (found !== -1) last = found + piece.length
      return found
    },
  }
  // The matcher calls no other string methods.
  return { reading, text: reader as unknown as string }
}

const LONG = 64 << 10
test.each([
  ["*a*a*a*a*a*a*ab", "a".repeat(LONG)],
  ["*aa*aa*aa*aa*aa*aa*aab", "a".repeat(LONG)],
  [`*${"a".repeat(180)}b*`, "a".repeat(LONG)],
  ["*/a*/a*/a*/a*/a*/a*/b*", "/a".repeat(LONG / 2)],
  ["********b", `${"ab".repeat(LONG / 2)}a`],
  ["a*ba*ba*ba*ba*bc*", `${"aab".repeat(LONG / 3)}`],
])("matching %s searches each literal part once and never moves backwards", (pattern, hostile) => {
  const { reading, text } = countReads(hostile)
  expect(wildcardMatcher(pattern)(text)).toBe(false)
  expect(reading.searches).toBeLessThanOrEqual(pattern.split("*").length - 2)
  expect(reading.backwards).toBe(0)
})

/** A deliberately slow reference implementation that tries every length of every star. */
function matchesPlainly(pattern: string, text: string): boolean {
  if (pattern === "") return text === ""
  const [first] = pattern
  if (first !== "*") return text.startsWith(first!) && matchesPlainly(pattern.slice(1), text.slice(1))
  return Array.from({ length: text.length + 1 }, (_, cut) => cut).some((cut) => matchesPlainly(pattern.slice(1), text.slice(cut)))
}

test("matches exactly what trying every length of every star matches", () => {
  const letters = (alphabet: string, maxLength: number) =>
    fc.array(fc.constantFrom(...alphabet), { maxLength }).map((chosen) => chosen.join(""))
  fc.assert(
    fc.property(letters("ab*", 8), letters("ab", 10), (pattern, text) => wildcardMatcher(pattern)(text) === matchesPlainly(pattern, text)),
    { seed: 11, numRuns: 5_000 },
  )
})

test("only one function normalizes untrusted text, and it is linear", () => {
  const composing = sources.filter(({ text }) => /\.normalize\(/.test(text)).map(({ path }) => path)
  expect(composing.sort()).toEqual([
    "plugins/imports/sources/region-spelling.ts", // a name of at most 100 characters
    "src/domain/text.ts",
    "src/services/backup/sealing.ts", // the operator's own passphrase
    "src/services/oidc/organization-providers.ts", // a name of limited length
    "src/services/sign-in/common-password-list.ts", // at build time
  ])
})

test.each([
  ["e\u0301", "\u00e9"],
  ["a\u0327\u0301", "a\u0327\u0301".normalize("NFC")],
  [`a${"\u0301".repeat(30)}`, `\u00e1${"\u0301".repeat(29)}`],
  [`a${"\u0301\u0327".repeat(16)}`, `a${"\u0301\u0327".repeat(16)}`],
  ["\u1112\u1161\u11ab", "\ud55c"],
])("%j is normalized to %j", (text, expected) => {
  expect(normalizeUnicode(text)).toBe(expected)
  expect(normalizeUnicode(normalizeUnicode(text))).toBe(expected)
})

test("accepts a body with a long run of combining marks on one letter", async () => {
  await using instance = await startInstance()
  const marks = (count: number) => `e${"\u0301\u0327".repeat(count / 2)}`
  const title = await instance.collect({ n: "pageview", u: "https://shop.example/", d: "shop.example", t: marks(30_000) })
  expect(title.status).toBe(202)
  const name = await instance.api.post(
    "/api/public/v1/sites/1/goals",
    { kind: "event", value: "x", name: marks(30_000) },
    instance.goalsKey,
  )
  expect(name).toMatchObject({ status: 422, body: { errors: [{ pointer: "/name", code: "too_long" }] } })
  await instance.signIn({ role: "owner" })
  const login = await instance.api.post("/api/private/auth/login", { email: marks(500_000), password: "x" })
  expect(login).toMatchObject({ status: 422, body: { errors: [{ pointer: "/email", code: "too_long" }] } })
  const reset = await instance.api.post("/api/private/auth/reset", { token: "x", password: marks(500_000) })
  expect(reset.status).toBe(422)
})
