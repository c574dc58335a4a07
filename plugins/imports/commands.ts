import { statSync } from "node:fs"
import { basename, resolve } from "node:path"
import {
  AppError,
  type CommandCall,
  type CommandForm,
  type ErrorCode,
  type Fault,
  fault,
  isObject,
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
import { followLogs } from "./streams/follow.ts"
import { pendingOf, streamByName, streamOfImport } from "./streams/rows.ts"

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
      stream: { value: "NAME", about: "Name of a server log that grows. Later runs with this name add its new lines to one import." },
      follow: { about: "Import new lines of the log every 60 s until the command is interrupted, also after a rotation. With --stream." },
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
  return {
    async "import preview"(call) {
      const author = await authorOf(call)
      return (await imports.preview(author, inputOf(area, call, "preview"), call.signal)).answer
    },
    async "import run"(call) {
      const author = await authorOf(call)
      const input = inputOf(area, call, "run")
      if (call.given.follow) return follow(area, author, input, call)
      const created = await imports.create(author, input, call.signal, async () => {})
      return call.given.wait ? ended(area, created.id, call) : format.started(created)
    },
    async "import list"({ given: { site, ...query } }) {
      return listing(area, await siteOf(site), query)
    },
    async "import undo"(call) {
      const undone = await imports.undo(await authorOf(call), call.given.id)
      return call.given.wait ? ended(area, undone.id, call) : format.response(undone)
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
  const { source, label, force, stream } = given
  const options = given.options === undefined ? undefined : parseOptions(given.options)
  const withStream = stream === undefined ? options : isObject(options ?? {}) ? { ...(options as object | undefined), stream } : options
  const value = {
    ...(source !== undefined && { source }),
    ...(withStream !== undefined && { options: withStream }),
    ...(label !== undefined && { label }),
    ...(given["preview-hash"] !== undefined && { preview_hash: given["preview-hash"] }),
    ...(force !== undefined && { force: true }),
  }
  const files = rest.map((name) => ({ name: basename(name), path: resolve(folder, name) }))
  const faults = files.flatMap(({ path }, index) => fileFaults(path, `/files/${index}`, settings.max_bytes))
  if (given.follow && stream === undefined) faults.push(fault("/follow", "required", "needs the name of a stream: --stream NAME"))
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

/** Follows the files of an input as a stream. */
const follow = (area: Area, author: Author, input: ImportInput, call: CommandCall): Promise<void> =>
  followLogs(
    author,
    input,
    call.rest.map((name) => resolve(call.folder, name)),
    {
      imports: area.imports,
      ended: (id) => ended(area, id, call),
      async completed() {
        const row = await streamByName(area.host.db, author.site.id, String(input.options.stream)) // required with --follow
        return row && { importId: row.import_id, run: row.run }
      },
      signal: call.signal,
    },
  )

/** Waits until the job of an import has ended and returns the import. Throws the fault of a failed one. */
async function ended({ host, format }: Area, id: number, { report, signal }: Pick<CommandCall, "report" | "signal">) {
  for (;;) {
    const row = (await importById(host.db, id))! // imports are deleted only with their site
    const isExtending = pendingOf(await streamOfImport(host.db, id)) !== undefined
    const isAtWork = row.state === "pending" || row.state === "running" || row.state === "undoing" || isExtending
    const hasFailed = row.error_code !== null && (row.state === "failed" || row.state === "completed")
    if (!isAtWork && hasFailed) throw new AppError(row.error_code as ErrorCode, row.error_message ?? "") // stored with the failure
    if (!isAtWork || signal.aborted) return format.response(row)
    const job = row.job_id === null ? undefined : await host.jobs.get(row.job_id)
    if (job?.state === "failed")
      throw new AppError("internal_error", "The job of the import failed. The cause is in the log of the server.")
    const progress = job && host.jobs.progressOf(job)
    if (progress) report({ what: progress.phase, done: progress.done, total: progress.total ?? 0 })
    await Bun.sleep(POLL_MS)
  }
}
