/** Bundles the dashboard: once in the build, or on first use if the program runs from source. */
import { statSync } from "node:fs"
import { join } from "node:path"
import { type BuildArtifact, type BunPlugin, Glob } from "bun"
import { symbolFile } from "./symbols.ts"

/** File of the dashboard as browsers load it. */
export interface DashboardPart {
  /** Path on the server. Contains a hash of the content, except for the page. */
  path: string
  type: string
  bytes: Uint8Array<ArrayBuffer>
}

/** Path prefix of all files except the page. */
export const ASSETS = "/assets/"

const SOURCE = join(import.meta.dir, "../../ui")
/** Path of the font. It is not part of the bundle, because the bundler would inline it as text, which the content policy forbids. */
export const FONT_PATH = `${ASSETS}hanken-grotesk.woff2`
const FONT_FILE = "@fontsource-variable/hanken-grotesk/files/hanken-grotesk-latin-wght-normal.woff2"

/** Returns the time of the last change to a source file of the dashboard or of a plugin, in epoch milliseconds. */
export function lastChange(): number {
  const files = new Glob("**/*.{ts,tsx,css,html,svg}")
  const folders = ["ui", "domain", "../plugins"].map((folder) => join(import.meta.dir, "../..", folder))
  const changes = folders.flatMap((cwd) => [...files.scanSync({ cwd, absolute: true })].map((file) => statSync(file).mtimeMs))
  return Math.max(...changes)
}

/** Matches the script of pages that need no account, and that of shares. The page refers to the script of all other pages. */
export const GUEST_SCRIPT = /^\/assets\/guest-entry-[a-z0-9]+\.js$/
export const SHARE_SCRIPT = /^\/assets\/share-entry-[a-z0-9]+\.js$/

/**
 * Bundles the dashboard, which takes about 100 ms. Throws the errors of the bundler. Pages that need no account and pages of shares
 * have bundles of their own, because in a common bundle their shared code would be split into dozens of small files.
 */
export async function bundleDashboard(): Promise<DashboardPart[]> {
  const symbols = new TextEncoder().encode(await symbolFile(SOURCE))
  const styles = await areaStyles()
  const apart = [
    { path: `${ASSETS}symbols-${Bun.hash(symbols).toString(36)}.svg`, type: "image/svg+xml", bytes: symbols },
    { path: `${ASSETS}areas-${Bun.hash(styles).toString(36)}.css`, type: "text/css;charset=utf-8", bytes: styles },
  ] as const
  const paths = { SYMBOLS_PATH: JSON.stringify(apart[0].path), AREA_STYLES_PATH: JSON.stringify(apart[1].path) }
  const outputs = (await Promise.all(["index.html", "guest.tsx", "share.tsx"].map((entry) => bundle(entry, paths)))).flat()
  const parts = await Promise.all(
    outputs.map(async (output) => ({
      path: output.type.startsWith("text/html") ? "/" : output.path.replace(/^\.\//, ASSETS),
      type: output.type,
      bytes: new Uint8Array(await output.arrayBuffer()),
    })),
  )
  const font = new Uint8Array(await Bun.file(Bun.resolveSync(FONT_FILE, SOURCE)).arrayBuffer())
  // A file in several bundles has the same name, because the name contains a hash of the content.
  return [...new Map(parts.map((part) => [part.path, part])).values(), { path: FONT_PATH, type: "font/woff2", bytes: font }, ...apart]
}

/** Bundles the style sheet of the plugins' pages, which is not linked in the page. */
async function areaStyles(): Promise<Uint8Array<ArrayBuffer>> {
  const { outputs } = await Bun.build({ entrypoints: [join(SOURCE, "styles/areas.css")], target: "browser", minify: true })
  return new Uint8Array(await outputs[0]!.arrayBuffer())
}

/** Bundles an entry with all files that it imports. `paths` are the paths of files that it loads, by the name of their constant. */
async function bundle(entry: string, paths: Readonly<Record<string, string>>): Promise<BuildArtifact[]> {
  const { outputs } = await Bun.build({
    entrypoints: [join(SOURCE, entry)],
    target: "browser",
    publicPath: ASSETS,
    naming: { entry: "[name]-entry-[hash].[ext]", chunk: "[name]-[hash].[ext]", asset: "[name]-[hash].[ext]" },
    external: [FONT_PATH],
    minify: true,
    splitting: true,
    define: { "process.env.NODE_ENV": '"production"', ...paths },
    plugins: [leanLibraries],
  })
  return outputs
}

/** A text of a library that is replaced, and its replacement. */
type Edit = readonly [from: string | RegExp, to: string]

/** Returns the edit that replaces the body of a function, at the start of a line or in a closure. */
const emptied = (name: string, body = ""): Edit => [
  new RegExp(`^(\\t?)(function ${name}\\([^)]*\\) \\{)[\\s\\S]*?\\n\\1\\}`, "m"),
  `$1$2 ${body} }`,
]

/** Methods of the query client that no screen calls, which a test checks. */
export const UNUSED_METHODS = [
  ...["isFetching", "isMutating", "getQueryData", "ensureQueryData", "getQueriesData", "setQueriesData", "getQueryState", "resetQueries"],
  ...["cancelQueries", "infiniteQuery", "fetchInfiniteQuery", "prefetchInfiniteQuery", "ensureInfiniteQueryData", "getMutationCache"],
  ...["setDefaultOptions", "setQueryDefaults", "setMutationDefaults", "getMutationDefaults", "defaultMutationOptions"],
] as const

/** Returns the edit that removes a method of a class. */
const withoutMethod = (name: string): Edit => [new RegExp(`^\\t${name}\\([^\\n]*\\) \\{[\\s\\S]*?\\n\\t\\}`, "m"), ""]

/**
 * Parts of libraries that no screen uses, 10 kB of every first view: the cache of writes of the query library, because the dashboard sends
 * its writes itself, and functions that the chart library attaches to itself, so that the bundler cannot tell which are used.
 */
const LEAN: readonly (readonly [file: RegExp, edits: readonly Edit[] | string])[] = [
  [
    /query-core\/build\/modern\/mutationCache\.js$/,
    "export class MutationCache { clear() {} resumePausedMutations() { return Promise.resolve() } }",
  ],
  [/query-core\/build\/modern\/queryClient\.js$/, UNUSED_METHODS.map(withoutMethod)],
  [
    /uplot\/dist\/uPlot\.esm\.js$/,
    [
      ...["assign", "fmtNum", "rangeNum", "rangeLog", "rangeAsinh", "orient  ", "join", "fmtDate", "tzDate ", "addGap", "clipGaps"].map(
        (name): Edit => [`uPlot.${name} = ${name.trim()};`, ""],
      ),
      ["(paths.linear  = linear);", ""],
      ["(paths.stepped = stepped);", ""],
      ["(paths.spline  = monotoneCubic);", ""],
      // Dates, because points are numbered and labelled by the dashboard.
      emptied("genTimeStuffs", "return [[], [], () => []];"),
      ...["timeAxisVals", "timeAxisVal"].map((name) => emptied(name, "return () => [];")),
      emptied("timeAxisStamps", "return [];"),
      ...["timeSeriesVal", "fmtDate"].map((name) => emptied(name, "return () => '';")),
      emptied("tzDate", "return date;"),
      // Logarithmic scales, bands, the legend, and changes of the series.
      ...["rangeLog", "rangeAsinh"].map((name) => emptied(name, "return [min, max];")),
      ...["logAxisSplits", "asinhAxisSplits"].map((name) => emptied(name, "return [];")),
      ...["log10AxisValsFilt", "log2AxisValsFilt"].map((name) => emptied(name, "return splits;")),
      emptied("clipBandLine", "return null;"),
      emptied("bandFillClipDirs", "return [0, 0];"),
      emptied("initLegendRow", "return nullNullTuple;"),
      ...["addSeries", "delSeries", "setSeries", "addBand", "delBand", "setBand", "dblClick"].map((name) => emptied(name)),
      ...["syncLegend", "setLegend", "setLegendValues", "toggleDOM", "setFocus", "setAlpha"].map((name) => emptied(name)),
    ],
  ],
]

const leanLibraries: BunPlugin = {
  name: "lean-libraries",
  setup(build) {
    for (const [filter, edits] of LEAN)
      build.onLoad({ filter }, async ({ path }) => ({
        contents: typeof edits === "string" ? edits : edits.reduce((text, edit) => edited(text, edit, path), await Bun.file(path).text()),
        loader: "js",
      }))
  },
}

/** Replaces a text wherever it occurs, or what a pattern matches. Throws if the library has changed. */
function edited(text: string, [from, to]: Edit, path: string): string {
  const isThere = typeof from === "string" ? text.includes(from) : from.test(text)
  if (!isThere) throw new Error(`${path} does not contain ${from}. Adapt LEAN in bundle.ts to the new version.`)
  return typeof from === "string" ? text.replaceAll(from, to) : text.replace(from, to)
}
