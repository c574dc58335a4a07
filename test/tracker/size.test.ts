import { expect, test } from "bun:test"
import { trackerScript, vitalsScript } from "../../src/tracker/bundle.ts"
import { checkScriptSizes, scriptSize, vitalsSize } from "../../src/tracker/size.ts"

const LOADS_VITALS = /if\("vitals"in \w+\)import\(new URL\("vitals\.js",\w+\.src\)\)/

test.each([
  ["native", 2_048],
  ["plausible", 2_560],
  ["umami", 2_560],
  ["goatcounter", 2_560],
] as const)("the %s script is at most %d bytes after gzip", (variant, limit) => {
  expect(scriptSize(variant)).toBeWithin(1_000, limit + 1)
})

test("the script that measures web vitals is at most 2,048 bytes after gzip", () => {
  expect(vitalsSize()).toBeWithin(500, 2_048 + 1)
})

test("records the sizes in the build", () => {
  expect(checkScriptSizes()).toMatch(
    /^native tracker: \d+ of 2048 bytes, plausible tracker: \d+ of 2560 bytes, umami tracker: \d+ of 2560 bytes, goatcounter tracker: \d+ of 2560 bytes, web vitals: \d+ of 2048 bytes$/,
  )
})

test("a script imports nothing and defines no global other than its own", () => {
  for (const text of [trackerScript(), trackerScript("plausible"), trackerScript("umami"), trackerScript("goatcounter")]) {
    expect(text).toMatch(/^\(\(\)=>\{.*\}\)\(\);$/s)
    expect(text.replace(LOADS_VITALS, "")).not.toMatch(/\bimport\b|\brequire\b/)
  }
  expect(vitalsScript()).not.toMatch(/\bimport\b|\bexport\b|\brequire\b/)
})

test("only the native script loads the one that measures web vitals, and only with its attribute", () => {
  expect(trackerScript()).toMatch(LOADS_VITALS)
  for (const variant of ["plausible", "umami", "goatcounter"] as const) expect(trackerScript(variant)).not.toContain("vitals")
})
