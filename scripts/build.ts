/**
 * `bun run build [targets]` builds one executable per target into dist/. Targets have Bun's names and are separated by commas; `all` means
 * the five released ones. Without an argument it builds for this machine.
 */
import { mkdir, rm } from "node:fs/promises"
import { join } from "node:path"
import { type BunPlugin, Glob } from "bun"
import { bundleDashboard } from "../src/http/dashboard/bundle.ts"
import { checkScriptSizes } from "../src/tracker/size.ts"
import { NOT_SHIPPED } from "./licenses.ts"

/** Targets by Bun's name, with the packages that contain libSQL and Bun for them. */
const TARGETS = {
  "bun-linux-x64": { libsql: "@libsql/linux-x64-gnu", runtime: "@oven/bun-linux-x64/bin/bun" },
  "bun-linux-arm64": { libsql: "@libsql/linux-arm64-gnu", runtime: "@oven/bun-linux-aarch64/bin/bun" },
  "bun-darwin-arm64": { libsql: "@libsql/darwin-arm64", runtime: "@oven/bun-darwin-aarch64/bin/bun" },
  "bun-darwin-x64": { libsql: "@libsql/darwin-x64", runtime: "@oven/bun-darwin-x64/bin/bun" },
  "bun-windows-x64": { libsql: "@libsql/win32-x64-msvc", runtime: "@oven/bun-windows-x64/bin/bun.exe" },
} as const
type Target = keyof typeof TARGETS

const root = join(import.meta.dir, "..")
const foreign = join(root, "dist/foreign")
const here = `bun-${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`

console.log(checkScriptSizes())
/** Threads start in files called `worker.ts` or `<name>-worker.ts`; each is an entry point. */
const workers = [...new Glob("src/**/{worker,*-worker}.ts").scanSync({ cwd: root, absolute: true })]

/**
 * Modules that unpack data in a loop while they load are separate chunks. In the program's chunk, the loop would make the engine
 * compile all load-time code of the chunk: 2.6 MB of machine code for statements that run once.
 */
const APART = ["tldts"]

const targets = chosenTargets(Bun.argv[2])
await mkdir(join(root, "dist"), { recursive: true })
if (targets.some((target) => target !== here)) await fetchForeignParts(targets)
const dashboard = await embeddedDashboard()
for (const target of targets) await buildBinary(target)

function chosenTargets(argument = here): Target[] {
  const names = argument === "all" ? Object.keys(TARGETS) : argument.split(",")
  return names.map((name) => {
    if (name in TARGETS) return name as Target // just tested
    throw new Error(`${name} is not a target. Choose from ${Object.keys(TARGETS).join(", ")}, all`)
  })
}

/**
 * Installs the packages of the other systems into a separate folder, so that the project's node_modules stay those of this machine.
 */
async function fetchForeignParts(targets: readonly Target[]): Promise<void> {
  const { optionalDependencies: natives } = await Bun.file(join(root, "node_modules/libsql/package.json")).json()
  const parts = targets.flatMap((target) => {
    const { libsql, runtime } = TARGETS[target]
    return [[libsql, natives[libsql]] as const, [runtime.split("/bin/")[0]!, Bun.version] as const]
  })
  await Bun.write(join(foreign, "package.json"), JSON.stringify({ private: true, dependencies: Object.fromEntries(parts) }))
  const install = Bun.spawn([process.execPath, "install", "--os=*", "--cpu=*", "--ignore-scripts", "--no-save"], { cwd: foreign })
  if ((await install.exited) !== 0) throw new Error("The packages for the other systems could not be installed.")
}

/**
 * Embeds the native library of libSQL for the target. libsql chooses it by a computed name, which no bundler can follow. It is embedded
 * compressed: the pages of an uncompressed one would stay in memory next to those that the system loads.
 */
async function nativeLibsql(target: Target): Promise<BunPlugin> {
  const part = join(target === here ? root : foreign, "node_modules", TARGETS[target].libsql, "index.node")
  const packed = join(root, "dist", `${target}.node.zst`)
  await Bun.write(packed, await Bun.zstdCompress(await Bun.file(part).bytes(), { level: 19 }))
  const loader = join(root, "src/store/catalog/native-part.ts")
  return {
    name: "native-libsql",
    setup(build) {
      build.onLoad({ filter: /node_modules[\\/]libsql[\\/](index|promise)\.js$/ }, async ({ path }) => {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a template in their source
        const theirs = "require(`@libsql/${target}`)"
        return { contents: await replaced(path, theirs, `require(${JSON.stringify(loader)}).loadNativePart()`), loader: "js" }
      })
      build.onLoad({ filter: /store[\\/]catalog[\\/]native-part\.ts$/ }, async ({ path }) => {
        const ours = "const PACKED: string | undefined = undefined"
        return { contents: await replaced(path, ours, `import PACKED from ${JSON.stringify(packed)}`), loader: "ts" }
      })
    },
  }
}

/** Embeds the files of the dashboard, compressed at build time so that neither the start nor the first visit has to wait for it. */
async function embeddedDashboard(): Promise<BunPlugin> {
  const folder = join(root, "dist/dashboard")
  await rm(folder, { recursive: true, force: true })
  const lines = await Promise.all(
    (await bundleDashboard()).map(async ({ path, type, bytes }, index) => {
      await Bun.write(join(folder, `${index}.gz`), Bun.gzipSync(bytes, { level: 9 }))
      await Bun.write(join(folder, `${index}.zst`), await Bun.zstdCompress(bytes, { level: 19 }))
      return {
        imports: `import gzip${index} from "./${index}.gz"\nimport zstd${index} from "./${index}.zst"`,
        part: `{ path: ${JSON.stringify(path)}, type: ${JSON.stringify(type)}, gzip: gzip${index}, zstd: zstd${index} }`,
      }
    }),
  )
  const list = join(folder, "embedded.ts")
  await Bun.write(
    list,
    `${lines.map(({ imports }) => imports).join("\n")}\nexport const EMBEDDED = [${lines.map(({ part }) => part).join(", ")}]\n`,
  )
  return {
    name: "embedded-dashboard",
    setup(build) {
      build.onResolve({ filter: /\/embedded\.ts$/ }, () => ({ path: list }))
    },
  }
}

async function replaced(path: string, part: string, by: string): Promise<string> {
  const source = await Bun.file(path).text()
  if (!source.includes(part)) throw new Error(`${path} has changed: it no longer contains ${part}`)
  return source.replaceAll(part, by)
}

async function buildBinary(target: Target): Promise<void> {
  const outfile = join(root, "dist", `footfall-${target.slice("bun-".length)}${target.includes("windows") ? ".exe" : ""}`)
  await Bun.build({
    // Workers are found by their path relative to main.ts, which inside the binary is the path below this root.
    root: join(root, "src"),
    entrypoints: [join(root, "src/main.ts"), ...workers, ...APART],
    target: "bun",
    external: NOT_SHIPPED,
    plugins: [await nativeLibsql(target), dashboard],
    loader: { ".zst": "file", ".gz": "file" },
    minify: true,
    // Lazy imports stay separate chunks, because linking everything at once would add 25 ms to every start.
    splitting: true,
    bytecode: true,
    format: "esm",
    define: { "process.env.NODE_ENV": '"production"' },
    compile: {
      target,
      outfile,
      // Settings come from the configuration only, not from .env files in the working directory.
      autoloadDotenv: false,
      autoloadBunfig: false,
      ...(target === here ? {} : { executablePath: join(foreign, "node_modules", TARGETS[target].runtime) }),
    },
  })
  console.log(`${outfile.slice(root.length + 1)}: ${(Bun.file(outfile).size / 2 ** 20).toFixed(0)} MiB`)
}
