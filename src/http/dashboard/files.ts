import { encodingOf } from "../accept.ts"
import { matchesETag } from "../headers.ts"
import { bundleDashboard, type DashboardPart, GUEST_SCRIPT, lastChange, SHARE_SCRIPT } from "./bundle.ts"
import { EMBEDDED, type EmbeddedPart } from "./embedded.ts"

/** File with its encoded forms. */
interface Asset {
  type: string
  etag: string
  plain(): Promise<Uint8Array<ArrayBuffer>>
  zstd(): Promise<Uint8Array<ArrayBuffer>>
  gzip(): Promise<Uint8Array<ArrayBuffer>>
}

export interface DashboardFiles {
  /** Returns the response for a script, style, font or image, or undefined for an unknown path. */
  answer(path: string, request: Request, headers: Readonly<Record<string, string>>): Promise<Response> | undefined
  /** Page for signed-in users. */
  shell: Shell
  /** Page of shares. */
  share: Shell
  /** Page for the sign-in and other pages that need no account. */
  guest: Shell
  /** Version of the dashboard: a hash of its page, which refers to all other files. */
  build: string
}

/** Text of a page before and after the element with its boot data. */
export type Shell = readonly [before: string, after: string]

/** Element for the boot data. `src/ui/index.html` contains the same text. */
const BOOT = '<script type="application/json" id="boot">null</script>'

let opened: Promise<DashboardFiles> | undefined
let openedFor = 0

/** Returns the files of the dashboard. They are prepared on first use, because an instance that only collects events never needs them. */
export function dashboardFiles(): Promise<DashboardFiles> {
  opened ??= open()
  return opened
}

/** Returns the files for a page. From source, bundles them again after a change, so that reloading the page shows the change. */
export function freshDashboardFiles(): Promise<DashboardFiles> {
  const changedAt = EMBEDDED ? 0 : lastChange()
  if (changedAt !== openedFor) opened = undefined
  openedFor = changedAt
  return dashboardFiles()
}

async function open(): Promise<DashboardFiles> {
  const assets = new Map<string, Asset>()
  if (EMBEDDED) for (const part of EMBEDDED) assets.set(part.path, embedded(part))
  else for (const part of await bundleDashboard()) assets.set(part.path, fromSource(part))
  const page = new TextDecoder().decode(await assets.get("/")?.plain())
  const [guestScript, shareScript] = [GUEST_SCRIPT, SHARE_SCRIPT].map((script) => [...assets.keys()].find((path) => script.test(path)))
  if (!guestScript || !shareScript) throw new Error("The dashboard has no script for pages that need no account")
  const withScript = (script: string): Shell => shellOf(page.replace(/\/assets\/[^"]+\.js/g, script))
  assets.delete("/")
  return {
    shell: shellOf(page),
    guest: withScript(guestScript),
    share: withScript(shareScript),
    build: Bun.hash(page).toString(36),
    answer(path, request, headers) {
      const asset = assets.get(path)
      return asset && answer(asset, request, headers)
    },
  }
}

function shellOf(page: string): Shell {
  const [before, after] = page.split(BOOT)
  if (before === undefined || after === undefined) throw new Error("The page of the dashboard has no element for its boot data")
  return [before, after]
}

const once = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}

function embedded({ path, type, zstd, gzip }: EmbeddedPart): Asset {
  const packed = once(() => Bun.file(zstd).bytes() as Promise<Uint8Array<ArrayBuffer>>)
  return {
    type,
    etag: `"${Bun.hash(path).toString(36)}"`,
    zstd: packed,
    gzip: once(() => Bun.file(gzip).bytes() as Promise<Uint8Array<ArrayBuffer>>),
    plain: async () => new Uint8Array(await Bun.zstdDecompress(await packed())),
  }
}

function fromSource({ type, bytes }: DashboardPart): Asset {
  return {
    type,
    etag: `"${Bun.hash(bytes).toString(36)}"`,
    plain: async () => bytes,
    zstd: once(async () => new Uint8Array(await Bun.zstdCompress(bytes))),
    gzip: once(async () => Bun.gzipSync(bytes)),
  }
}

/** Returns the response for a file. Browsers cache it indefinitely, because its name contains a hash of its content. */
async function answer(asset: Asset, request: Request, given: Readonly<Record<string, string>>): Promise<Response> {
  const headers = {
    ...given,
    "content-type": asset.type,
    etag: asset.etag,
    vary: "accept-encoding",
    "cache-control": "public, max-age=31536000, immutable",
  }
  if (matchesETag(request, asset.etag)) return new Response(null, { status: 304, headers })
  const encoding = encodingOf(request)
  if (!encoding) return new Response(await asset.plain(), { headers })
  return new Response(await asset[encoding](), { headers: { ...headers, "content-encoding": encoding } })
}
