import { encodingOf } from "../accept.ts"
import { bundleDashboard, type DashboardPart, GUEST_SCRIPT, lastChange } from "./bundle.ts"
import { EMBEDDED, type EmbeddedPart } from "./embedded.ts"

/** One file in the forms it is sent in. */
interface Prepared {
  type: string
  etag: string
  plain(): Promise<Uint8Array<ArrayBuffer>>
  zstd(): Promise<Uint8Array<ArrayBuffer>>
  gzip(): Promise<Uint8Array<ArrayBuffer>>
}

export interface DashboardFiles {
  /** A script, style, font or picture; undefined when there is none of this path. */
  answer(path: string, request: Request, headers: Readonly<Record<string, string>>): Promise<Response> | undefined
  /** The page of somebody who is signed in, before and after the element that holds its first data; `guest` is the page of anybody else. */
  shell: Shell
  guest: Shell
  /** Changes with every change of the dashboard. */
  build: string
}

export type Shell = readonly [before: string, after: string]

/** Kept here, the same in the page's source. */
const BOOT = '<script type="application/json" id="boot">null</script>'

let opened: Promise<DashboardFiles> | undefined
let openedFor = 0

/** Prepared when the first page is asked for: an instance that only collects never needs it. */
export function dashboardFiles(): Promise<DashboardFiles> {
  opened ??= open()
  return opened
}

/** The same for a page: from source, a change of the dashboard shows when a page is loaded again. */
export function freshDashboardFiles(): Promise<DashboardFiles> {
  const changedAt = EMBEDDED ? 0 : lastChange()
  if (changedAt !== openedFor) opened = undefined
  openedFor = changedAt
  return dashboardFiles()
}

async function open(): Promise<DashboardFiles> {
  const prepared = new Map<string, Prepared>()
  if (EMBEDDED) for (const part of EMBEDDED) prepared.set(part.path, embedded(part))
  else for (const part of await bundleDashboard()) prepared.set(part.path, fromSource(part))
  const page = new TextDecoder().decode(await prepared.get("/")?.plain())
  const guestScript = [...prepared.keys()].find((path) => GUEST_SCRIPT.test(path))
  if (!guestScript) throw new Error("The pages that need no account have lost their script")
  prepared.delete("/")
  return {
    shell: shellOf(page),
    guest: shellOf(page.replace(/\/assets\/[^"]+\.js/g, guestScript)),
    build: Bun.hash(page).toString(36),
    answer(path, request, headers) {
      const part = prepared.get(path)
      return part && answer(part, request, headers)
    },
  }
}

function shellOf(page: string): Shell {
  const [before, after] = page.split(BOOT)
  if (before === undefined || after === undefined) throw new Error("The dashboard's page has lost the element of its first data")
  return [before, after]
}

const once = <Value>(make: () => Promise<Value>): (() => Promise<Value>) => {
  let made: Promise<Value> | undefined
  return () => {
    made ??= make()
    return made
  }
}

function embedded({ path, type, zstd, gzip }: EmbeddedPart): Prepared {
  const packed = once(() => Bun.file(zstd).bytes() as Promise<Uint8Array<ArrayBuffer>>)
  return {
    type,
    etag: `"${Bun.hash(path).toString(36)}"`,
    zstd: packed,
    gzip: once(() => Bun.file(gzip).bytes() as Promise<Uint8Array<ArrayBuffer>>),
    plain: async () => new Uint8Array(await Bun.zstdDecompress(await packed())),
  }
}

function fromSource({ type, bytes }: DashboardPart): Prepared {
  return {
    type,
    etag: `"${Bun.hash(bytes).toString(36)}"`,
    plain: async () => bytes,
    zstd: once(async () => new Uint8Array(await Bun.zstdCompress(bytes))),
    gzip: once(async () => Bun.gzipSync(bytes)),
  }
}

/** Names hold a hash of the content, so a browser never asks twice. */
async function answer(part: Prepared, request: Request, given: Readonly<Record<string, string>>): Promise<Response> {
  const headers = {
    ...given,
    "content-type": part.type,
    etag: part.etag,
    vary: "accept-encoding",
    "cache-control": "public, max-age=31536000, immutable",
  }
  if (request.headers.get("if-none-match") === part.etag) return new Response(null, { status: 304, headers })
  const encoding = encodingOf(request)
  if (!encoding) return new Response(await part.plain(), { headers })
  return new Response(await part[encoding](), { headers: { ...headers, "content-encoding": encoding } })
}
