/**
 * Runs the tests and prints `N passed, N failed, N skipped` as its last line. The counts come from the JUnit report, the verdict also from
 * the exit status of the runner. A file that fails is run once more alone, and the second result counts: a test that failed because
 * the machine stalled passes then, a broken one fails again. The name is printed either way, because such a test depends on timing.
 */
import { constants } from "node:fs"
import { access, mkdtemp, rm, statfs } from "node:fs/promises"
import { availableParallelism, tmpdir } from "node:os"
import { join, resolve } from "node:path"
import { Glob } from "bun"

const REPORT = "junit.xml"
/** Long enough for browsers and killed servers on a busy machine, and short enough to end a test that hangs. */
const TEST_TIMEOUT_MS = 60_000
const SLOW_FILES_SHOWN = 15
/** Maximum number of failed files to run again. If more fail, the cause is not chance. */
const MAX_RERUN_FILES = 10

/** Durations of files in milliseconds by what they start, from the most expensive to the least. Other files take `PLAIN_MS`. */
const ESTIMATES = [
  [/\bnoBrowser\b|everyScreen\(/, 20_000],
  [/\bPROGRAM\b|\bfootfall\(|\bserving\(|reliability/, 10_000],
] as const
const PLAIN_MS = 2_000

/** A file system in memory, where a write that waits for the disk returns immediately, and the space it must have. */
const MEMORY_FOLDER = "/dev/shm"
const MEMORY_FOLDER_BYTES = 8 * 2 ** 30

/** Builds the compiled file, with which tests start Footfall as a process. */
const BUILD = "scripts/build.ts"

/** Runs in a thread of its own for almost every instance of a test. */
const QUERY_WORKER = "src/query/engine/worker.ts"

/** The data of all tests. */
const DATA = await mkdtemp(join(await roomyFolder(), "footfall-check-"))

/** Turns off colours and the line groups of build servers, which would hide the lines that are parsed below. */
const PLAIN = {
  ...process.env,
  NO_COLOR: "1",
  FORCE_COLOR: undefined,
  GITHUB_ACTIONS: undefined,
  // The files of a process share its browser as well.
  FOOTFALL_TEST_BROWSER_STAYS: "1",
  TMPDIR: DATA,
  ...(await compiled()),
  ...(await bundledWorker()),
}

/** Counts and duration of one test file. */
interface FileResult {
  passed: number
  failed: number
  skipped: number
  seconds: number
}

interface Run {
  succeeded: boolean
  /** Whether the runner finished. The report of a killed runner is incomplete. */
  ended: boolean
  results: Map<string, FileResult>
  /** Files with an error outside their tests, which the report does not count. "" stands for an error before the first file. */
  unhandled: string[]
}

const chosen = Bun.argv.slice(2)
const files = chosen.length === 0 ? await Array.fromAsync(new Glob("{test,plugins}/**/*.test.{ts,tsx}").scan(".")) : []
const first = await runTests([
  // One process more than there are cores, because tests spend much of their time waiting for browsers and servers.
  `--parallel=${availableParallelism() + 1}`,
  // The files of a process share its modules: loading and compiling the program for each file took a fifth of the processor time.
  "--no-isolate",
  `--timings=${await estimateTimes(files)}`,
  ...chosen,
])
const results = first.results
// A file that cannot be loaded is missing from the report.
const missing = files.filter((file) => !results.has(file)).sort()
for (const file of missing) console.log(`${file} is not in the report: it could not be loaded, or it ended the run`)
for (const file of missing) results.set(file, { passed: 0, failed: 1, skipped: 0, seconds: 0 })

let succeeded = first.succeeded
const broken = [...results].filter(([, result]) => result.failed > 0).map(([file]) => file)
const failed = [...new Set([...broken, ...first.unhandled])]
if (first.ended && !failed.includes("") && failed.length > 0 && failed.length <= MAX_RERUN_FILES) {
  succeeded = true
  for (const file of failed) succeeded = (await runAlone(file)) && succeeded
}

await rm(DATA, { recursive: true, force: true })
for (const [file, { seconds }] of slowest()) console.log(`${seconds.toFixed(1).padStart(7)} s  ${file}`)
const count = { passed: 0, failed: 0, skipped: 0 }
for (const result of results.values()) {
  count.passed += result.passed
  count.failed += result.failed
  count.skipped += result.skipped
}
if (!succeeded && count.failed === 0) count.failed++ // the report does not contain the failure
console.log(`${count.passed} passed, ${count.failed} failed, ${count.skipped} skipped`)
process.exit(count.failed === 0 && count.passed > 0 ? 0 : 1)

/** Writes estimated durations for the runner, which starts with the longest files so that no core is idle at the end. Returns the path. */
async function estimateTimes(files: readonly string[]): Promise<string> {
  const estimate = async (file: string) => {
    const text = await Bun.file(file).text()
    return [file, ESTIMATES.find(([starts]) => starts.test(text))?.[1] ?? PLAIN_MS]
  }
  const path = join(DATA, "timings.json")
  await Bun.write(path, JSON.stringify({ version: 1, files: Object.fromEntries(await Promise.all(files.map(estimate))) }))
  return path
}

async function runTests(options: string[]): Promise<Run> {
  await rm(REPORT, { force: true }) // otherwise an old report would count for a run that died
  const common = [`--timeout=${TEST_TIMEOUT_MS}`, "--reporter=junit", `--reporter-outfile=${REPORT}`]
  const run = Bun.spawn([process.execPath, "test", ...common, ...options], { stdio: ["inherit", "inherit", "pipe"], env: PLAIN })
  const output = await readOutput(run.stderr)
  const succeeded = (await run.exited) === 0
  const report = Bun.file(REPORT)
  return { succeeded, ...output, results: resultsOf((await report.exists()) ? await report.text() : "") }
}

/** Returns where the data of the tests is kept: in memory if there is space, otherwise in the system's temporary folder. */
async function roomyFolder(): Promise<string> {
  try {
    await access(MEMORY_FOLDER, constants.W_OK)
    const { bavail, bsize } = await statfs(MEMORY_FOLDER)
    return bavail * bsize >= MEMORY_FOLDER_BYTES ? MEMORY_FOLDER : tmpdir()
  } catch {
    return tmpdir()
  }
}

/** Builds the program once for all tests that start it. Without it they start the source, and those of the build say why it failed. */
async function compiled(): Promise<{ FOOTFALL_TEST_BINARY?: string }> {
  if (!(await Bun.file(BUILD).exists())) return {}
  const { exitCode } = Bun.spawnSync([process.execPath, BUILD], { stdio: ["ignore", "inherit", "inherit"] })
  return exitCode === 0 ? { FOOTFALL_TEST_BINARY: resolve("dist", `footfall-${process.platform}-${process.arch}`) } : {}
}

/** Bundles the query worker. A thread loads the bundle in half of the processor time that its modules take. */
async function bundledWorker(): Promise<{ FOOTFALL_TEST_QUERY_WORKER?: string }> {
  if (!(await Bun.file(QUERY_WORKER).exists())) return {}
  const { outputs } = await Bun.build({ entrypoints: [QUERY_WORKER], target: "bun", outdir: DATA })
  return { FOOTFALL_TEST_QUERY_WORKER: outputs[0]!.path }
}

/** Forwards the output of the runner and reads it: each file begins with a line that holds its name. */
async function readOutput(printed: ReadableStream<Uint8Array>): Promise<Pick<Run, "ended" | "unhandled">> {
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

/** Runs a file alone, replaces its result, and returns whether it passed. */
async function runAlone(file: string): Promise<boolean> {
  console.log(`\n${file} failed and is run once more alone`)
  const again = await runTests([`./${file}`])
  const result = again.results.get(file)
  if (result !== undefined) results.set(file, result)
  const passed = again.succeeded && result?.failed === 0
  console.log(`${file} ${passed ? "passed" : "failed"} alone`)
  return passed
}

/** Parses the report into results by file. A file's suite is indented by one level, the suites inside it by more. */
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
