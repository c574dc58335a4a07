import { statSync } from "node:fs"
import { basename, resolve } from "node:path"
import {
  AppError,
  type CommandCall,
  type CommandForm,
  type ErrorCode,
  type Fault,
  fault,
  type PluginCommand,
  parseId,
  refuseFaults,
  type Site,
  siteNotFound,
} from "#plugin"
import type { Area } from "./area.ts"
import { type ImportInput, LIMITS, parseInput, parseOptions } from "./input.ts"
import type { Author } from "./lifecycle.ts"
import { listing } from "./routes.ts"
import { importById } from "./rows.ts"

const SITE = { value: "ID", about: "Id of the site.", required: true }
const FILES = {
  site: SITE,
  options: { value: "JSON", about: `Options of the source, such as '{"overlap": "fill_gaps"}'.` },
}

/** The commands of imports, as the help describes them. */
export const COMMANDS: readonly CommandForm[] = [
  {
    name: "import preview",
    about: "Show what an import of files would do, without storing anything.",
    takes: ["file…"],
    flags: { ...FILES, source: { value: "SOURCE", about: "Source of the files, such as plausible. Default: detected." } },
  },
  {
    name: "import run",
    about: "Import files of another product or log files into a site.",
    takes: ["file…"],
    flags: {
      ...FILES,
      source: { value: "SOURCE", about: "Source of the files, such as plausible.", required: true },
      label: { value: "TEXT", about: "Name of the import. Default: the source and its files." },
      "preview-hash": { value: "HASH", about: "Hash of a preview. An import that would do something else is refused." },
      force: { about: "Import content again that was imported before." },
      wait: { about: "Wait until the import has ended. Exits 1 or 64 if it fails." },
    },
  },
  {
    name: "import list",
    about: "List the imports of a site, newest first.",
    flags: {
      site: SITE,
      state: { value: "STATE", about: "Only imports in this state, such as completed." },
      limit: { value: "N", about: "Maximum number of imports, 1 to 100. Default: 50." },
      cursor: { value: "CURSOR", about: "next_cursor of the previous page." },
    },
  },
  {
    name: "import undo",
    about: "Remove everything that an import has added.",
    takes: ["id"],
    flags: { site: SITE, wait: { about: "Wait until the import is undone." } },
  },
]

/** What the commands do: the same as the routes, with the same answers. The operator of the instance has every permission. */
export function commandsOf(area: Area): Record<string, PluginCommand> {
  const { host, imports, format } = area
  const authorOf = async ({ given, actor }: CommandCall): Promise<Author> => ({
    site: await siteOf(given.site),
    actor,
    userId: null,
    permissions: { has: () => true },
  })
  // The control socket does not report when a command is interrupted. A preview ends by its own limits.
  const { signal } = new AbortController()
  return {
    async "import preview"(call) {
      const author = await authorOf(call)
      return (await imports.preview(author, inputOf(area, call, "preview"), signal)).answer
    },
    async "import run"(call) {
      const author = await authorOf(call)
      const created = await imports.create(author, inputOf(area, call, "run"), signal, async () => {})
      return call.given.wait ? ended(area, created.id, call.report) : format.created(created)
    },
    async "import list"({ given: { site, ...query } }) {
      return listing(area, await siteOf(site), query)
    },
    async "import undo"(call) {
      const undone = await imports.undo(await authorOf(call), call.given.id)
      return call.given.wait ? ended(area, undone.id, call.report) : format.response(undone)
    },
  }

  async function siteOf(text: string | undefined): Promise<Site> {
    const id = parseId(text)
    if (id === undefined) throw siteNotFound()
    return host.services.sites.get(id)
  }
}

/** Reads the words of a command as the routes read a body. */
function inputOf({ host: { settings } }: Area, { given, rest, folder }: CommandCall, kind: "preview" | "run"): ImportInput {
  const { source, options, label, force } = given
  const value = {
    ...(source !== undefined && { source }),
    ...(options !== undefined && { options: parseOptions(options) }),
    ...(label !== undefined && { label }),
    ...(given["preview-hash"] !== undefined && { preview_hash: given["preview-hash"] }),
    ...(force !== undefined && { force: true }),
  }
  const files = rest.map((name) => ({ name: basename(name), path: resolve(folder, name) }))
  const faults = files.flatMap(({ path }, index) => fileFaults(path, `/files/${index}`, settings.max_bytes))
  if (files.length > LIMITS.files) faults.push(fault("/files", "too_many", `has more than ${LIMITS.files} files`))
  refuseFaults(faults)
  return parseInput({ value, bytes: new Uint8Array(), files }, kind)
}

/** The server reads the files itself, so they may be as large as uploads. */
function fileFaults(path: string, pointer: string, maxBytes: number): Fault[] {
  const found = statSync(path, { throwIfNoEntry: false })
  const problem = (code: string, text: string) => [{ pointer, code, detail: `${path} ${text}` }]
  if (!found) return problem("not_found", "does not exist on the machine of the instance.")
  if (!found.isFile()) return problem("invalid_choice", "is not a file.")
  return found.size > maxBytes ? problem("too_long", `has more than ${maxBytes} bytes, see FOOTFALL_IMPORT_MAX_BYTES.`) : []
}

const POLL_MS = 200

/** Waits until the job of an import has ended and returns the import. Throws the fault of a failed one. */
async function ended({ host, format }: Area, id: number, report: CommandCall["report"]) {
  for (;;) {
    const row = (await importById(host.db, id))! // imports are deleted only with their site
    const isAtWork = row.state === "pending" || row.state === "running" || row.state === "undoing"
    if (row.state === "failed") throw new AppError(row.error_code as ErrorCode, row.error_message ?? "") // stored with the failure
    if (!isAtWork) return format.response(row)
    const job = row.job_id === null ? undefined : await host.jobs.get(row.job_id)
    if (job?.state === "failed")
      throw new AppError("internal_error", "The job of the import failed. The cause is in the log of the server.")
    const progress = job && host.jobs.progressOf(job)
    if (progress) report({ what: progress.phase, done: progress.done, total: progress.total ?? 0 })
    await Bun.sleep(POLL_MS)
  }
}
