import { expect, test } from "bun:test"
import { runOnTree } from "./tree.ts"

const PASSES = 'import { test } from "bun:test"\ntest("one", () => {})\n'
const FAILS = 'import { test } from "bun:test"\ntest("two", () => { throw new Error("no") })\n'
const FAILS_ONCE = `import { expect, test } from "bun:test"
import { existsSync, writeFileSync } from "node:fs"
test("two", () => {
  const again = existsSync("ran-before")
  writeFileSync("ran-before", "")
  expect(again).toBe(true)
})
`
const THROWS_OUTSIDE = `import { afterAll, test } from "bun:test"
test("five", () => { setTimeout(() => { throw new Error("later") }, 1) })
afterAll(() => Bun.sleep(20))
`
const SKIPS = 'import { test } from "bun:test"\ntest.skip("three", () => {})\ntest.todo("four")\n'

test.each([
  ["passing tests", { "test/a.test.ts": PASSES }, 0, "1 passed, 0 failed, 0 skipped"],
  ["a failing test", { "test/a.test.ts": PASSES, "test/b.test.ts": FAILS }, 1, "1 passed, 1 failed, 0 skipped"],
  ["a test that passes alone", { "test/a.test.ts": PASSES, "test/b.test.ts": FAILS_ONCE }, 0, "2 passed, 0 failed, 0 skipped"],
  [
    "an error outside the tests together with a test that passes alone",
    { "test/b.test.ts": FAILS_ONCE, "test/f.test.ts": THROWS_OUTSIDE },
    1,
    "2 passed, 1 failed, 0 skipped",
  ],
  ["skipped tests", { "test/a.test.ts": PASSES, "test/c.test.ts": SKIPS }, 0, "1 passed, 0 failed, 2 skipped"],
  ["only skipped tests", { "test/c.test.ts": SKIPS }, 1, "0 passed, 0 failed, 2 skipped"],
  [
    "a file that cannot be loaded",
    { "test/a.test.ts": PASSES, "test/d.test.ts": 'import "./nowhere.ts"\n' },
    1,
    "1 passed, 1 failed, 0 skipped",
  ],
  [
    "a test that ends the process",
    { "test/a.test.ts": PASSES, "test/e.test.ts": `${PASSES}process.exit(0)` },
    1,
    "1 passed, 1 failed, 0 skipped",
  ],
  ["no tests", {}, 1, "0 passed, 1 failed, 0 skipped"],
])("counts %s in its last line", (_, files, status, line) => {
  const run = runOnTree("scripts/ci.ts", files)
  expect({ status: run.status, line: run.output.trimEnd().split("\n").at(-1) }).toEqual({ status, line })
})

test("names a file that failed among others, and reports how it did alone", () => {
  const files = { "test/a.test.ts": PASSES, "test/b.test.ts": FAILS, "test/c.test.ts": FAILS_ONCE }
  const { status, output } = runOnTree("scripts/ci.ts", files)
  expect(output).toContain("test/b.test.ts failed alone\n")
  expect(output).toContain("test/c.test.ts passed alone\n")
  expect(output).not.toContain("test/a.test.ts failed")
  expect({ status, line: output.trimEnd().split("\n").at(-1) }).toEqual({ status: 1, line: "2 passed, 1 failed, 0 skipped" })
})

test("fails a run that was killed", () => {
  const killed = `import { test } from "bun:test"\ntest("six", () => process.kill(process.ppid, "SIGKILL"))\n`
  const files = { "test/b.test.ts": THROWS_OUTSIDE, "test/c.test.ts": `${FAILS_ONCE}await Bun.sleep(300)\n`, "test/k.test.ts": killed }
  const { status } = runOnTree("scripts/ci.ts", files, ["./test"])
  expect(status).toBe(1)
})

test("finds errors outside the tests with and without colours", () => {
  const files = { "test/b.test.ts": FAILS_ONCE, "test/f.test.ts": THROWS_OUTSIDE }
  const { status, output } = runOnTree("scripts/ci.ts", files, [], { FORCE_COLOR: "1", GITHUB_ACTIONS: "true" })
  expect({ status, line: output.trimEnd().split("\n").at(-1) }).toEqual({ status: 1, line: "2 passed, 1 failed, 0 skipped" })
})

test("does not run a broken tree a second time", () => {
  const broken = Array.from({ length: 11 }, (_, index) => [`test/${index}.test.ts`, FAILS] as const)
  const { status, output } = runOnTree("scripts/ci.ts", Object.fromEntries(broken))
  expect(output).not.toContain("alone")
  expect({ status, line: output.trimEnd().split("\n").at(-1) }).toEqual({ status: 1, line: "0 passed, 11 failed, 0 skipped" })
})
