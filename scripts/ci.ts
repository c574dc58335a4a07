/**
 * Runs the tests and closes with one honest line. The counts come from the reports, the verdict also from the exit status. A file
 * that failed beside others is run once more alone, and its second result counts: what a stalled machine broke passes then, what is
 * broken fails again. Its name is printed either way, because such a test has to be looked at.
 */
import { rm } from "node:fs/promises"
import { availableParallelism } from "node:os"
import { Glob } from "bun"

const REPORT = "junit.xml"
/** Browsers and killed servers take their time on a busy machine; a test that hangs still ends. */
const TEST_TIMEOUT_MS = 60_000
const SLOW_FILES_SHOWN = 15
/** More files than these do not fail by chance. */
const RUN_AGAIN_AT_MOST = 10

/** Without colours and without the groups of a build server, which would hide the lines that are looked for. */
const PLAIN = { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, GITHUB_ACTIONS: undefined }

/** What the report says of one file. */
interface FileResult {
  passed: number
  failed: number
  skipped: number
  seconds: number
}

interface Run {
  succeeded: boolean
  /** Whether it came to its own end: what a runner that was killed did not report is unknown. */
  ended: boolean
  results: Map<string, FileResult>
  /** Files with an error outside of their tests; no report counts these. "" stands for what came before any file. */
  unhandled: string[]
}

const chosen = Bun.argv.slice(2)
const files = chosen.length === 0 ? await Array.fromAsync(new Glob("{test,plugins}/**/*.test.{ts,tsx}").scan(".")) : []
// Every file in its own world. One process more than there are cores: browsers and killed servers are waited for, and the total
// shall be that of the work, not of the waiting.
const first = await runTests([`--parallel=${availableParallelism() + 1}`, ...chosen])
const results = first.results
// A file that cannot be loaded is simply absent from the report.
const missing = files.filter((file) => !results.has(file)).sort()
for (const file of missing) console.log(`${file} is not in the report: it could not be loaded, or ended the run`)
for (const file of missing) results.set(file, { passed: 0, failed: 1, skipped: 0, seconds: 0 })

let succeeded = first.succeeded
const broken = [...results].filter(([, result]) => result.failed > 0).map(([file]) => file)
const failed = [...new Set([...broken, ...first.unhandled])]
if (first.ended && !failed.includes("") && failed.length > 0 && failed.length <= RUN_AGAIN_AT_MOST) {
  succeeded = true
  for (const file of failed) succeeded = (await runAlone(file)) && succeeded
}

for (const [file, { seconds }] of slowest()) console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`)
const count = { passed: 0, failed: 0, skipped: 0 }
for (const result of results.values()) {
  count.passed += result.passed
  count.failed += result.failed
  count.skipped += result.skipped
}
if (!succeeded && count.failed === 0) count.failed++ // what failed is in no report
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exit(count.failed === 0 && count.passed > 0 ? 0 : 1)

async function runTests(options: string[]): Promise<Run> {
  await rm(REPORT, { force: true }) // an old report would speak for a run that died
  const common = [`--timeout=${TEST_TIMEOUT_MS}`, "--reporter=junit", `--reporter-outfile=${REPORT}`]
  const run = Bun.spawn([process.execPath, "test", ...common, ...options], { stdio: ["inherit", "inherit", "pipe"], env: PLAIN })
  const said = await whatIsSaid(run.stderr)
  const succeeded = (await run.exited) === 0
  const report = Bun.file(REPORT)
  return { succeeded, ...said, results: resultsOf((await report.exists()) ? await report.text() : "") }
}

/** Passes on what the tests print, where each file begins with its name on a line of its own. */
async function whatIsSaid(printed: ReadableStream<Uint8Array>): Promise<Pick<Run, "ended" | "unhandled">> {
  const decoder = new TextDecoder()
  const unhandled: string[] = []
  let ended = false
  let file = ""
  let rest = ""
  for await (const chunk of printed) {
    process.stderr.write(chunk)
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n")
    rest = lines.pop()!
    for (const line of lines) {
      file = line.match(/^(\S+\.test\.tsx?):$/)?.[1] ?? file
      if (line.startsWith("# Unhandled error")) unhandled.push(file)
      ended ||= /^Ran \d+ tests? across \d+ files?\./.test(line)
    }
  }
  return { ended, unhandled }
}

/** Whether the file passes with the machine to itself; its result replaces the first one, unless it ended its run again. */
async function runAlone(file: string): Promise<boolean> {
  console.log(`\n${file} failed beside others and is run once more alone`)
  const again = await runTests([`./${file}`])
  const result = again.results.get(file)
  if (result !== undefined) results.set(file, result)
  const passed = again.succeeded && result?.failed === 0
  console.log(`${file} ${passed ? "passed" : "failed"} alone`)
  return passed
}

/** By file, in the order of the report. A file's suite is indented once, the suites inside it deeper. */
function resultsOf(report: string): Map<string, FileResult> {
  const results = new Map<string, FileResult>()
  for (const suite of report.split(/^(?= {2}<testsuite )/m).slice(1)) {
    const [, file = "", seconds] = suite.match(/^ {2}<testsuite name="[^"]*" file="([^"]*)"[^>]*? time="([^"]*)"/) ?? []
    results.set(file, { ...countCases(suite), seconds: Number(seconds) })
  }
  return results
}

function countCases(report: string): { passed: number; failed: number; skipped: number } {
  const count = { passed: 0, failed: 0, skipped: 0 }
  for (const [, , inside = ""] of report.matchAll(/<testcase\b[^>]*?(\/>|>([\s\S]*?)<\/testcase>)/g)) {
    count[/<(failure|error)\b/.test(inside) ? "failed" : /<skipped\b/.test(inside) ? "skipped" : "passed"]++
  }
  return count
}

function slowest(): [string, FileResult][] {
  return [...results].sort(([, a], [, b]) => b.seconds - a.seconds).slice(0, SLOW_FILES_SHOWN)
}
