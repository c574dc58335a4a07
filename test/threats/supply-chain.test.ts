import { expect, test } from "bun:test"
import { join } from "node:path"
import { LICENSES_FILE, licensesText, shippedPackages } from "../../scripts/licenses.ts"

/** Threat `supply-chain`, as far as a checkout can verify it. */

const root = join(import.meta.dir, "../..")
const manifest = await Bun.file(join(root, "package.json")).json()
const textOf = (path: string): Promise<string> => Bun.file(join(root, path)).text()

/** Licences that allow redistribution in one file under the MIT licence and require no more than an entry in NOTICE. */
const ALLOWED = new Set([
  "0BSD",
  "Apache-2.0",
  "BSD-2-Clause",
  "BSD-3-Clause",
  "CC0-1.0",
  "ISC",
  "MIT",
  "MIT-0",
  "OFL-1.1",
  "Unicode-3.0",
  "Unlicense",
])
const GNU = /GNU (AFFERO |LESSER |LIBRARY )?GENERAL PUBLIC LICENSE|SERVER SIDE PUBLIC LICENSE/i

test("pins every dependency to one version and ships few of them", () => {
  const { dependencies, devDependencies, overrides } = manifest as Record<string, Record<string, string>>
  const loose = Object.entries({ ...dependencies, ...devDependencies, ...overrides }).filter(
    ([, version]) => !/^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/.test(version),
  )
  expect(loose).toEqual([])
  expect(Object.keys(dependencies!).length).toBeLessThanOrEqual(25)
})

test("installs from a frozen lockfile everywhere, with a checksum for every package", async () => {
  const installs = ["package.json", "Dockerfile", ".ci/run"].map(textOf)
  const lines = (await Promise.all(installs)).flatMap((text) => text.split("\n")).filter((line) => /\bbun\S* install\b/.test(line))
  expect(lines.length).toBeGreaterThanOrEqual(3)
  expect(lines.filter((line) => !line.includes("install --frozen-lockfile"))).toEqual([])
  const entries = (await textOf("bun.lock")).split("\n").filter((line) => /^ {4}"[^"]+": \["/.test(line))
  expect(entries.length).toBeGreaterThan(200)
  expect(entries.filter((line) => !/"sha512-[A-Za-z0-9+/]{86}=="\],?$/.test(line))).toEqual([])
  // Packages come only from the registry, not from other URLs or repositories.
  expect(entries.filter((line) => !/^ {4}"[^"]+": \["(@[\w.-]+\/)?[\w.-]+@\d+\.\d+\.\d+[\w.+-]*", "", \{/.test(line))).toEqual([])
})

test("ships only code under permissive licences, each listed in NOTICE with its version and text", async () => {
  const notice = new Set((await textOf("NOTICE")).split("\n").map((line) => line.trim().split(/\s+/).join(" ")))
  const packages = await shippedPackages()
  expect(packages.length).toBeGreaterThan(40)
  const faults = packages.flatMap(({ folder, name, version, license, isNative, texts }) => [
    ...(ALLOWED.has(license) ? [] : [`${folder} is under ${license}`]),
    ...(isNative || notice.has(`${name} ${version} ${license}`) ? [] : [`NOTICE lacks ${name} ${version} ${license}`]),
    ...(texts.some((text) => GNU.test(text)) ? [`${folder} holds a GNU licence`] : []),
  ])
  expect(faults).toEqual([])
  expect(await Bun.file(LICENSES_FILE).text()).toBe(licensesText(packages))
}, 60_000)
