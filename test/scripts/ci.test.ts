import { expect, test } from "bun:test"
import { runOnTree } from "./tree.ts"

const PASSES = 'import { test } from "bun:test"\ntest("one", () => {})\n'
const FAILS = 'import { test } from "bun:test"\ntest("two", () => { throw new Error("no") })\n'
const SKIPS = 'import { test } from "bun:test"\ntest.skip("three", () => {})\ntest.todo("four")\n'

test.each([
  ["passing tests", { "test/a.test.ts": PASSES }, 0, "1 passed, 0 failed, 0 skipped"],
  ["a failing one", { "test/a.test.ts": PASSES, "test/b.test.ts": FAILS }, 1, "1 passed, 1 failed, 0 skipped"],
  ["skipped ones", { "test/a.test.ts": PASSES, "test/c.test.ts": SKIPS }, 0, "1 passed, 0 failed, 2 skipped"],
  ["nothing but skipped ones", { "test/c.test.ts": SKIPS }, 1, "0 passed, 0 failed, 2 skipped"],
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
