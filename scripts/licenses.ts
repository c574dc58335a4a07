/**
 * `bun scripts/licenses.ts` writes the licence texts of all shipped packages into `THIRD-PARTY-LICENSES.txt`, which is part of the binary,
 * because nearly every licence requires it. A test checks that the file is up to date.
 */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "..")
export const LICENSES_FILE = join(root, "THIRD-PARTY-LICENSES.txt")

/** Native libraries of libSQL, one per system. They contain no licence text; that of the package that loads them applies to all. */
const NATIVE = `node_modules/@libsql/${process.platform}-${process.arch}`

/** A package of which at least one file is shipped. */
export interface ShippedPackage {
  /** Path relative to the root of the project. */
  folder: string
  name: string
  version: string
  /** SPDX identifier. */
  license: string
  /** Whether it is the native library of libSQL for this system. */
  isNative: boolean
  /** Texts of its licence, copyright and notice files. */
  texts: readonly string[]
}

/** Packages of which data is shipped: the font, icons and flags, and the names of regions, which a macro reads. */
const AS_DATA = ["@fontsource-variable/hanken-grotesk", "@iconify-json/cib", "cldr-subdivisions-full", "country-flag-icons", "iso-3166"]

/** Optional dependencies of shipped packages that are installed only because a test tool needs them, and are not shipped. */
export const NOT_SHIPPED = ["supports-color"]

/** Lists the packages in the program, its threads and the dashboard, by name and version. */
export async function shippedPackages(): Promise<ShippedPackage[]> {
  const threads = [...new Glob("src/**/{worker,*-worker}.ts").scanSync({ cwd: root, absolute: true })]
  const program = await bundled([join(root, "src/main.ts"), ...threads], { target: "bun", external: NOT_SHIPPED })
  const dashboard = await bundled([join(root, "src/ui/index.html")], { target: "browser", external: ["/assets/hanken-grotesk.woff2"] })
  const native = [...new Glob(`${NATIVE}*`).scanSync({ cwd: root, onlyFiles: false })]
  const folders = new Set([...program, ...dashboard, ...native, ...AS_DATA.map((name) => `node_modules/${name}`)])
  const packages = await Promise.all([...folders].map(packageIn))
  return packages.sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
}

/** Returns the folders of the packages that a bundle contains. A package can be there in several versions. */
async function bundled(entrypoints: readonly string[], options: Partial<Bun.BuildConfig>): Promise<string[]> {
  const { metafile } = await Bun.build({ entrypoints: [...entrypoints], metafile: true, ...options })
  return Object.keys(metafile?.inputs ?? {}).flatMap((path) => /^(?:\.\.\/)*(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
}

async function packageIn(folder: string): Promise<ShippedPackage> {
  const { name, version, license } = await Bun.file(join(root, folder, "package.json")).json()
  return { folder, name, version, license, isNative: folder.startsWith(NATIVE), texts: await licenceTexts(join(root, folder)) }
}

/** Reads the licence files of a package. */
async function licenceTexts(folder: string): Promise<string[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^(licen[cs]e|copying|copyright|notice)/i.test(name)) : []
  const files = names.sort().map((name) => Bun.file(join(folder, name)))
  const present = await Promise.all(files.map((file) => file.exists()))
  return Promise.all(files.filter((_, at) => present[at]).map(async (file) => normalizeText(await file.text())))
}

const normalizeText = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll(/[^\S\n]+$/gm, "")
    .trim()

/** Formats every text once, below the names of the packages it applies to. */
export function licensesText(packages: readonly ShippedPackage[]): string {
  const shipped = packages.filter(({ isNative }) => !isNative)
  const sections = [...Map.groupBy(shipped, ({ texts }) => texts.join("\n\n"))].map(([text, those]) => {
    const titles = those.map(({ name, version, license }) => `${name} ${version} (${license})`)
    return [...new Set(titles), "-".repeat(72), text || "The package holds no text of its licence."].join("\n")
  })
  return `${sections.join(`\n\n${"=".repeat(72)}\n`)}\n`
}

if (import.meta.main) await Bun.write(LICENSES_FILE, licensesText(await shippedPackages()))
