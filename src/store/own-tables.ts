/**
 * Checks from the text of a statement that a plugin uses only its own tables. This prevents mistakes, not malice: a plugin is part
 * of the program. Statements that cannot be analysed are refused.
 */

/** Returns what is wrong with a statement, or undefined when it uses only tables that begin with the prefix. */
export const forbiddenTable = (text: string, prefix: string): string | undefined => cachedFault(text, prefix)

/** Returns what is wrong with a migration, or undefined when its statements create and change only objects that begin with the prefix. */
export function foreignMigration(text: string, prefix: string): string | undefined {
  for (const statement of statementsOf(tokensOf(text))) {
    const fault = checkMigration(statement, prefix)
    if (fault !== undefined) return fault
  }
  return undefined
}

interface Token {
  /** Words are in lower case; quoted names are unchanged, without their quotes. */
  text: string
  kind: "word" | "quoted" | "string" | "number" | "sign"
}

const PATTERN = /--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'|"((?:[^"]|"")*)"|`([^`]*)`|\[([^\]]*)\]|([A-Za-z_][\w$]*)|(\d[\w.]*)|(\S)/g

function tokensOf(text: string): Token[] {
  const tokens: Token[] = []
  for (const [whole, double, back, square, word, number, sign] of text.matchAll(PATTERN)) {
    const quoted = double ?? back ?? square
    if (quoted !== undefined) tokens.push({ kind: "quoted", text: quoted })
    else if (word !== undefined) tokens.push({ kind: "word", text: word.toLowerCase() })
    else if (number !== undefined) tokens.push({ kind: "number", text: "" })
    else if (whole.startsWith("'")) tokens.push({ kind: "string", text: "" })
    else if (sign !== undefined) tokens.push({ kind: "sign", text: sign })
  }
  return tokens
}

function statementsOf(tokens: readonly Token[]): Token[][] {
  const statements: Token[][] = [[]]
  for (const token of tokens) {
    if (isSign(token, ";")) statements.push([])
    else statements.at(-1)!.push(token)
  }
  return statements.filter((statement) => statement.length > 0)
}

const VERBS = new Set(["select", "insert", "update", "delete", "replace", "with"])

function checkStatement(text: string, prefix: string): string | undefined {
  const [statement, ...others] = statementsOf(tokensOf(text))
  if (!statement) return "it is empty"
  if (others.length > 0) return "it is more than one statement"
  if (!VERBS.has(wordAt(statement, 0) ?? "")) return `it may not begin with ${statement[0]!.text}`
  return firstForeign(statement, prefix)
}

/** The words that are followed by a table name. */
const BEFORE_TABLE = new Set(["from", "join", "into", "update", "table", "references"])
/** The words that may occur between these and the name. */
const SKIPPED = new Set(["or", "replace", "rollback", "abort", "fail", "ignore", "if", "not", "exists"])
/** The words that end a list of tables. A list continues after `on`. */
const ENDS = new Set(["where", "group", "order", "having", "limit", "set", "returning", "values", "select", "union", "except", "intersect"])
const NOTHING: ReadonlySet<string> = new Set()
const TABLE_FUNCTIONS = new Set(["json_each", "json_tree"])

/** Checks each place in a statement where a table is named. */
function firstForeign(tokens: readonly Token[], prefix: string): string | undefined {
  const known = commonTables(tokens)
  if (known === undefined) return "WITH is only allowed at the beginning"
  // One entry per open parenthesis: whether it is a list of tables, where a comma leads to the next one.
  const lists = [false]
  let expects = false
  let names = known
  for (let at = 0; at < tokens.length; at++) {
    const token = tokens[at]!
    if (isSign(token, "(")) {
      lists.push(expects)
      continue
    }
    if (isSign(token, ")")) lists.pop()
    else if (isSign(token, ",") && lists.at(-1)) expects = true
    else if (token.kind === "word" && BEFORE_TABLE.has(token.text) && !isComparison(tokens, at)) {
      expects = true
      // The target of a write is always a real table, even if a WITH clause defines the same name.
      names = isTarget(tokens, at) ? NOTHING : known
      if (token.text === "from" || token.text === "join") lists[lists.length - 1] = true
    } else if (endsTables(tokens, at)) {
      expects = false
      lists[lists.length - 1] = false
    } else if (token.kind === "word" && token.text === "in" && canName(tokens[at + 1])) return "IN needs parentheses"
    else if (expects && token.kind === "string") return "a table name is in single quotes"
    else if (expects && isName(token) && !(token.kind === "word" && SKIPPED.has(token.text))) {
      expects = false
      const fault = checkTableName(tokens, at, prefix, names)
      names = known
      if (fault !== undefined) return fault
    }
  }
  return undefined
}

function checkTableName(tokens: readonly Token[], at: number, prefix: string, known: ReadonlySet<string>): string | undefined {
  const name = tokens[at]!.text.toLowerCase()
  if (isSign(tokens[at + 1], ".")) return `it names the schema ${name}`
  const wasInto = ["into", "update", "table", "references"].includes(wordAt(tokens, at - 1) ?? "")
  if (isSign(tokens[at + 1], "(") && !wasInto) return TABLE_FUNCTIONS.has(name) ? undefined : `it calls ${name} as a table`
  return name.startsWith(prefix) || known.has(name) ? undefined : `it touches the table ${name}`
}

/** Returns the tables that a leading WITH defines. Returns undefined for a WITH elsewhere, which would apply to a part of the statement. */
function commonTables(tokens: readonly Token[]): ReadonlySet<string> | undefined {
  const names = new Set<string>()
  const isWith = (token: Token) => token.kind === "word" && token.text === "with"
  if (tokens.slice(1).some(isWith)) return undefined
  if (!isWith(tokens[0]!)) return names
  let depth = 0
  let at = wordAt(tokens, 1) === "recursive" ? 2 : 1
  for (let expects = true; at < tokens.length; at++) {
    const token = tokens[at]!
    if (isSign(token, "(")) depth++
    else if (isSign(token, ")")) depth--
    else if (depth === 0 && token.kind === "word" && VERBS.has(token.text)) break
    else if (depth === 0 && isSign(token, ",")) expects = true
    else if (depth === 0 && expects && isName(token)) {
      names.add(token.text.toLowerCase())
      expects = false
    }
  }
  return names
}

/** Returns whether the word before a table means that the table is changed. */
function isTarget(tokens: readonly Token[], at: number): boolean {
  const word = wordAt(tokens, at)
  return word === "into" || word === "update" || (word === "from" && wordAt(tokens, at - 1) === "delete")
}

/** Returns whether a word ends a list of tables. `window` does so only before a name and `as`; elsewhere it is a name itself. */
function endsTables(tokens: readonly Token[], at: number): boolean {
  const word = wordAt(tokens, at)
  return word === "window" ? wordAt(tokens, at + 2) === "as" : word !== undefined && ENDS.has(word)
}

/** Returns whether no table follows the word, as in `is distinct from` and `do update`. */
function isComparison(tokens: readonly Token[], at: number): boolean {
  const before = wordAt(tokens, at - 1)
  if (tokens[at]!.text === "from") return before === "distinct" && wordAt(tokens, at - 2) !== "select"
  return tokens[at]!.text === "update" && before === "do"
}

const isSign = (token: Token | undefined, text: string): boolean => token?.kind === "sign" && token.text === text
const isName = (token: Token | undefined): boolean => token?.kind === "word" || token?.kind === "quoted"
/** Returns whether SQLite can read a token as a name. It accepts text in single quotes where only a name is possible. */
const canName = (token: Token | undefined): boolean => isName(token) || token?.kind === "string"
const wordAt = (tokens: readonly Token[], at: number): string | undefined => (tokens[at]?.kind === "word" ? tokens[at].text : undefined)

function checkMigration(tokens: readonly Token[], prefix: string): string | undefined {
  const verb = wordAt(tokens, 0) ?? ""
  if (VERBS.has(verb)) return firstForeign(tokens, prefix)
  if (!["create", "drop", "alter"].includes(verb)) return `a migration may not ${verb || tokens[0]!.text}`
  let at = 1
  if (wordAt(tokens, at) === "unique") at++
  const kind = wordAt(tokens, at) ?? ""
  if (kind !== "table" && kind !== "index") return `a migration may not ${verb} a ${kind}`
  at++
  while (["if", "not", "exists"].includes(wordAt(tokens, at) ?? "")) at++
  const name = tokens[at]?.text.toLowerCase() ?? ""
  if (!name.startsWith(prefix) || isSign(tokens[at + 1], ".")) return `${verb} ${kind} ${name}: the name must begin with ${prefix}`
  return kind === "index" ? checkIndex(tokens, at + 1, prefix) : checkTable(tokens.slice(at + 1), prefix)
}

function checkIndex(tokens: readonly Token[], at: number, prefix: string): string | undefined {
  if (at >= tokens.length) return undefined // a `drop index`
  const table = tokens[at + 1]?.text.toLowerCase() ?? ""
  return wordAt(tokens, at) === "on" && table.startsWith(prefix)
    ? undefined
    : `an index on ${table}: the table name must begin with ${prefix}`
}

/** Checks the rest of a statement after its table's name: tables that it references or selects from, and a new name. */
function checkTable(tokens: readonly Token[], prefix: string): string | undefined {
  const renamed = tokens.findIndex((_, at) => wordAt(tokens, at) === "rename" && wordAt(tokens, at + 1) === "to")
  const name = renamed === -1 ? undefined : tokens[renamed + 2]?.text.toLowerCase()
  if (name !== undefined && !name.startsWith(prefix)) return `alter table rename to ${name}: the name must begin with ${prefix}`
  return firstForeign([{ kind: "word", text: "table" }, { kind: "quoted", text: prefix }, ...tokens], prefix)
}

/** Results by prefix and text. Statements are literals of the source code, so there are few. */
const MAX_CACHED = 2_000
const cachedFaults = new Map<string, string | undefined>()

function cachedFault(text: string, prefix: string): string | undefined {
  const key = `${prefix} ${text}`
  if (cachedFaults.has(key)) return cachedFaults.get(key)
  if (cachedFaults.size >= MAX_CACHED) cachedFaults.clear()
  const fault = checkStatement(text, prefix)
  cachedFaults.set(key, fault)
  return fault
}
