import { ERROR_CODES } from "../domain/error.ts"
import { CORE_PERMISSIONS, RANKS } from "../domain/permission.ts"
import { CORE_EVENTS } from "../domain/product-event.ts"
import { RECORD_KINDS } from "../domain/record.ts"
import { ExitFault } from "../services/runtime/exit.ts"
import type { AnyPlugin } from "./contract.ts"
import { CORE_TABLES, CORE_WORDS } from "./words.ts"

/** Creates the error that stops the start because of a faulty plugin. Its message is one line. */
export const pluginFault = (id: string, problem: string): ExitFault => new ExitFault("configuration", `The plugin ${id}: ${problem}`)

/** Checks the fixed fields of all plugins before the stores are opened. Throws the fault of the first faulty plugin. */
export function checkPlugins(plugins: readonly AnyPlugin[]): void {
  const claims = new Map<string, string>()
  for (const plugin of plugins) {
    const refuse = (problem: string): never => {
      throw pluginFault(plugin.id, problem)
    }
    /** Claims a name. Throws if another plugin has claimed it. */
    const claim = (what: string): void => {
      const owner = claims.get(what)
      if (owner !== undefined) refuse(`${what} is already taken by the plugin ${owner}`)
      claims.set(what, plugin.id)
    }
    checkName(plugin, refuse)
    if (plugins.find(({ id }) => id === plugin.id) !== plugin) refuse("another plugin has the same id")
    checkPaths(plugin, claims, claim, refuse)
    checkPermissions(plugin, claim, refuse)
    checkRecords(plugin, claim, refuse)
    checkErrors(plugin, claim, refuse)
    checkEvents(plugin, claim, refuse)
    checkCommands(plugin, claim, refuse)
    checkMigrations(plugin, refuse)
  }
}

type Refuse = (problem: string) => never
type Claim = (what: string) => void

function checkName({ id, title }: AnyPlugin, refuse: Refuse): void {
  if (!/^[a-z][a-z0-9]{1,30}$/.test(id)) refuse("an id must consist of 2 to 31 lower-case letters and digits and begin with a letter")
  const table = CORE_TABLES.find((name) => name.startsWith(`${id}_`))
  if (id === "core" || table !== undefined)
    refuse(`the id is reserved for the core${table === undefined ? "" : `, which has a table ${table}`}`)
  if (title.trim() === "") refuse("the title is empty")
}

const SEGMENT = /^[a-z0-9][a-z0-9-]*$/
const OPEN_PATH = /^[a-z0-9][a-z0-9-]*(\/[a-z0-9][a-z0-9-]*){0,2}$/i

function checkPaths({ paths = {} }: AnyPlugin, claims: ReadonlyMap<string, string>, claim: Claim, refuse: Refuse): void {
  for (const kind of ["site", "instance"] as const) {
    for (const segment of paths[kind] ?? []) {
      if (!SEGMENT.test(segment)) refuse(`the ${kind} path ${segment} must consist of lower-case letters, digits and hyphens`)
      if (CORE_WORDS[kind].includes(segment)) refuse(`the ${kind} path ${segment} is reserved for the core`)
      claim(`the ${kind} path ${segment}`)
    }
  }
  for (const path of paths.open ?? []) if (typeof path === "string") claimOpen(path, claims, claim, refuse)
}

/** Checks an open path, including paths from the settings. */
export function claimOpen(path: string, claims: ReadonlyMap<string, string>, claim: Claim, refuse: Refuse): void {
  if (!OPEN_PATH.test(path)) refuse(`the open path ${path} must consist of one to three segments of letters, digits and hyphens`)
  const core = CORE_WORDS.open.find((taken) => overlaps(taken, path))
  if (core !== undefined) refuse(`the open path ${path} overlaps with the core's path ${core}`)
  const open = "the open path "
  const other = [...claims.keys()].find((what) => what.startsWith(open) && overlaps(what.slice(open.length), path))
  claim(other ?? open + path)
}

/** Returns whether one path is below the other. */
const overlaps = (a: string, b: string): boolean => `${a}/`.startsWith(`${b}/`) || `${b}/`.startsWith(`${a}/`)

function checkPermissions({ permissions = {} }: AnyPlugin, claim: Claim, refuse: Refuse): void {
  for (const [name, minimum] of Object.entries(permissions)) {
    if (!/^[a-z]+(-[a-z]+)*:[a-z]+(-[a-z]+)*$/.test(name)) refuse(`the permission ${name} does not have the form <things>:<verb>`)
    if (!RANKS.includes(minimum)) refuse(`the minimum role of the permission ${name} must be one of ${RANKS.join(", ")}`)
    if (Object.hasOwn(CORE_PERMISSIONS, name))
      refuse(`the permission ${name} is defined by the core: routes can use it without a declaration`)
    claim(`the permission ${name}`)
  }
}

function checkRecords({ records = {} }: AnyPlugin, claim: Claim, refuse: Refuse): void {
  for (const [name, { kind }] of Object.entries(records)) {
    if (!/^[a-z]+(_[a-z]+)+$/.test(name)) refuse(`the record ${name} does not have the form <thing>_<what_happened>`)
    if (!RECORD_KINDS.includes(kind)) refuse(`the kind of the record ${name} must be one of ${RECORD_KINDS.join(", ")}`)
    claim(`the record ${name}`)
  }
}

function checkErrors({ errors = {} }: AnyPlugin, claim: Claim, refuse: Refuse): void {
  for (const [code, { status, title, meaning }] of Object.entries(errors)) {
    if (!/^[a-z]+(_[a-z]+)*$/.test(code)) refuse(`the error code ${code} is not in snake_case`)
    if (ERROR_CODES.some((known) => known === code)) refuse(`the error code ${code} is defined by the core`)
    if (!(status >= 400 && status < 500) || title === "" || meaning === "")
      refuse(`the error code ${code} needs a status from 400 to 499, a title and a meaning`)
    claim(`the error code ${code}`)
  }
}

function checkEvents({ events = {} }: AnyPlugin, claim: Claim, refuse: Refuse): void {
  for (const name of Object.keys(events)) {
    if (!/^[a-z]+(_[a-z]+)*\.[a-z]+(_[a-z]+)*$/.test(name) || name.startsWith("internal."))
      refuse(`the product event ${name} does not have the form <thing>.<what_happened>`)
    if (Object.hasOwn(CORE_EVENTS, name)) refuse(`the product event ${name} is defined by the core`)
    claim(`the product event ${name}`)
  }
}

function checkCommands({ commands = [] }: AnyPlugin, claim: Claim, refuse: Refuse): void {
  for (const { name } of commands) {
    if (!/^[a-z]+ [a-z]+(-[a-z]+)*$/.test(name)) refuse(`the command ${name} needs a name of two words such as import run`)
    if (CORE_WORDS.command.includes(name.split(" ")[0]!)) refuse(`the command ${name} begins with a word that is reserved for the core`)
    claim(`the command ${name}`)
  }
}

function checkMigrations({ id, migrations = [], rowMigrations = [] }: AnyPlugin, refuse: Refuse): void {
  const names = new Set<string>()
  for (const { name } of [...migrations, ...rowMigrations]) {
    if (!/^\d{4}_[a-z0-9_]+$/.test(name) || names.has(name)) refuse(`the migration ${name} needs a unique name such as 0001_${id}`)
    names.add(name)
  }
}
