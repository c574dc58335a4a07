/** Runs the tests and closes with one honest line. The count comes from the report, the verdict also from the exit status. */
import { rm } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { Glob } from "bun"

const REPORT = "junit.xml"
/** Browsers and killed servers take their time on a busy machine; a test that hangs still ends. */
const TEST_TIMEOUT_MS = 60_000
const SLOW_FILES_SHOWN = 15

const chosen = Bun.argv.slice(2)
const files = chosen.length === 0 ? await Array.fromAsync(new Glob("{test,plugins}/**/*.test.{ts,tsx}").scan(".")) : []
await rm(REPORT, { force: true }) // an old report would speak for a run that died
// Every file in its own world. One process more than there are cores: browsers and killed servers are waited for, and the total
// shall be that of the work, not of the waiting.
const options = [
  `--parallel=${availableParallelism() + 1}`,
  `--timeout=${TEST_TIMEOUT_MS}`,
  "--reporter=junit",
  `--reporter-outfile=${REPORT}`,
]
const run = Bun.spawn([process.execPath, "test", ...options, ...chosen], { stdio: ["inherit", "inherit", "inherit"] })
const status = await run.exited
const report = Bun.file(REPORT)
const text = (await report.exists()) ? await report.text() : ""

const count = countCases(text)
// A file that cannot be loaded is simply absent from the report.
const missing = files.filter((file) => !text.includes(`file="${file}"`)).sort()
for (const file of missing) console.log(`${file} is not in the report: it could not be loaded, or ended the run`)
count.failed += missing.length
if (status !== 0 && count.failed === 0) count.failed++ // what failed is not in the report

for (const { file, seconds } of slowest(text)) console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`)
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exit(status === 0 && count.failed === 0 && count.passed > 0 ? 0 : 1)

function countCases(report: string): { passed: number; failed: number; skipped: number } {
  const count = { passed: 0, failed: 0, skipped: 0 }
  for (const [, , inside = ""] of report.matchAll(/<testcase\b[^>]*?(\/>|>([\s\S]*?)<\/testcase>)/g)) {
    count[/<(failure|error)\b/.test(inside) ? "failed" : /<skipped\b/.test(inside) ? "skipped" : "passed"]++
  }
  return count
}

function slowest(report: string): { file: string; seconds: number }[] {
  const files = [...report.matchAll(/^ {2}<testsuite name="[^"]*" file="([^"]*)"[^>]*? time="([^"]*)"/gm)]
  const timed = files.map(([, file, time]) => ({ file: file!, seconds: Number(time) }))
  return timed.sort((a, b) => b.seconds - a.seconds).slice(0, SLOW_FILES_SHOWN)
}
