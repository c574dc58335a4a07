import { expect, test } from "bun:test"
import { trackerScript } from "../../src/tracker/bundle.ts"
import { checkScriptSizes, scriptSize } from "../../src/tracker/size.ts"

test.each([
  ["native", 2_048],
  ["plausible", 2_560],
  ["umami", 2_560],
  ["goatcounter", 2_560],
] as const)("the %s script is at most %d bytes after gzip", (variant, limit) => {
  expect(scriptSize(variant)).toBeWithin(1_000, limit + 1)
})

test("records the sizes in the build", () => {
  expect(checkScriptSizes()).toMatch(
    /^native tracker: \d+ of 2048 bytes, plausible tracker: \d+ of 2560 bytes, umami tracker: \d+ of 2560 bytes, goatcounter tracker: \d+ of 2560 bytes$/,
  )
})

test("a script imports nothing and defines no global other than its own", () => {
  for (const text of [trackerScript(), trackerScript("plausible"), trackerScript("umami"), trackerScript("goatcounter")]) {
    expect(text).toMatch(/^\(\(\)=>\{.*\}\)\(\);$/s)
    expect(text).not.toMatch(/\bimport\b|\brequire\b/)
  }
})
