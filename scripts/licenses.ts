/**
 * `bun scripts/licenses.ts` writes the licence texts of what is shipped into `THIRD-PARTY-LICENSES.txt`, which the binary carries:
 * nearly every licence asks that its text goes along. A test holds that it has been run.
 */
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { Glob } from "bun"

const root = join(import.meta.dir, "..")
export const LICENSES_FILE = join(root, "THIRD-PARTY-LICENSES.txt")

/** libSQL's native parts, one for each system, which hold no text; that of the package that loads them stands for all. */
const NATIVE = `node_modules/@libsql/${process.platform}-${process.arch}`

/** A package of which something is shipped. */
export interface ShippedPackage {
  /** Where it lies below the root of the project. */
  folder: string
  name: string
  version: string
  /** By its SPDX name. */
  license: string
  /** Whether it is a part of libSQL for this system alone. */
  isNative: boolean
  /** Texts of its files of licences, copyrights and notices. */
  texts: readonly string[]
}

/** What is in the program, its threads and the dashboard, by name and version. */
export async function shippedPackages(): Promise<ShippedPackage[]> {
  const threads = [...new Glob("src/**/{worker,*-worker}.ts").scanSync({ cwd: root, absolute: true })]
  const program = await bundled([join(root, "src/main.ts"), ...threads], { target: "bun" })
  const dashboard = await bundled([join(root, "src/ui/index.html")], { target: "browser", external: ["/assets/hanken-grotesk.woff2"] })
  const native = [...new Glob(`${NATIVE}*`).scanSync({ cwd: root, onlyFiles: false })]
  const folders = new Set([...program, ...dashboard, ...native, "node_modules/@fontsource-variable/hanken-grotesk"])
  const packages = await Promise.all([...folders].map(packageIn))
  return packages.sort((a, b) => (`${a.name} ${a.version}` < `${b.name} ${b.version}` ? -1 : 1))
}

/** Folders of packages of which something is in a bundle; a package may be there in several versions. */
async function bundled(entrypoints: readonly string[], options: Partial<Bun.BuildConfig>): Promise<string[]> {
  const { metafile } = await Bun.build({ entrypoints: [...entrypoints], metafile: true, ...options })
  return Object.keys(metafile?.inputs ?? {}).flatMap((path) => /^(?:\.\.\/)*(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1] ?? [])
}

async function packageIn(folder: string): Promise<ShippedPackage> {
  const { name, version, license } = await Bun.file(join(root, folder, "package.json")).json()
  return { folder, name, version, license, isNative: folder.startsWith(NATIVE), texts: await licenceTexts(join(root, folder)) }
}

/** What a package says besides its manifest. */
async function licenceTexts(folder: string): Promise<string[]> {
  const names = existsSync(folder) ? readdirSync(folder).filter((name) => /^(licen[cs]e|copying|copyright|notice)/i.test(name)) : []
  const files = names.sort().map((name) => Bun.file(join(folder, name)))
  const present = await Promise.all(files.map((file) => file.exists()))
  return Promise.all(files.filter((_, at) => present[at]).map(async (file) => tidied(await file.text())))
}

const tidied = (text: string): string =>
  text
    .replaceAll("\r\n", "\n")
    .replaceAll(/[^\S\n]+$/gm, "")
    .trim()

/** Every text once, below the packages that it is the text of. */
export function licensesText(packages: readonly ShippedPackage[]): string {
  const shipped = packages.filter(({ isNative }) => !isNative)
  const sections = [...Map.groupBy(shipped, ({ texts }) => texts.join("\n\n"))].map(([text, those]) => {
    const titles = those.map(({ name, version, license }) => `${name} ${version} (${license})`)
    return [...new Set(titles), "-".repeat(72), text || "The package holds no text of its licence."].join("\n")
  })
  return `${sections.join(`\n\n${"=".repeat(72)}\n`)}\n`
}

if (import.meta.main) await Bun.write(LICENSES_FILE, licensesText(await shippedPackages()))
