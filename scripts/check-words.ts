/**
 * Rejects words that hide what a thing is (style.md section 4): `session` where visits are meant, names of files that could contain
 * anything, and words that plain ones have replaced (language.md). A word is added to the list once the last place that used it is gone.
 */
import { Glob } from "bun"

/** Traffic consists of visits there; a session is a sign-in. Payloads of other products keep their own words. */
const NO_SESSION = /^src\/(query|store\/events|ingest(?!\/payloads\/))\//
const NAMELESS = /^(utils?|helpers?|common|managers?)$/i

/** Words of the first version and their replacements. Identifiers are matched as whole words. */
const REPLACED: readonly (readonly [pattern: RegExp, instead: string])[] = [
  [/\bDeed\b/, "AuditEntry"],
  [/\bHindrances?\b/, "StorageProblem"],
  [/\b(open|close)Ground\b/, "the stores and services that are opened"],
  [/\buseRested\b/, "useDebouncedValue"],
  [/\buseSeen\b/, "useInView"],
  [/\bkeepPlaces\b/, "restoreScroll"],
  [/\bAsk(er|ing)\b/, "Caller or ReportOptions"],
  [/\bLookAs\b/, "ImpersonateUser"],
  [/\bwhomever\b/i, "the person: visitor, user, caller, member"],
  [/\btak(e|en|es) along\b/i, "export or download"],
  [/\bwhoever\b/i, "the person: visitor, user, caller, member"],
  [/\bsomebody\b/i, "the person, or someone"],
  [/\banew\b/i, "again"],
  [/\bbesides\b/i, "other than, or also"],
  [/\btold\b/i, "the verb of what happens: reported, shown, named"],
]
/** Production code. Tests are converted after the code they test. */
const PRODUCTION = /^(src|config|scripts|plugins\/[^/]+\/(?!test\/))/

const faults: string[] = []
for await (const file of new Glob("{src,plugins,config,scripts,test}/**/*").scan(".")) {
  const names = file.split("/").map((part) => part.replace(/\..*$/, ""))
  const nameless = names.find((name) => NAMELESS.test(name))
  if (nameless) faults.push(`${file}: "${nameless}" could contain anything; name the subject`)
  const saysVisit = NO_SESSION.test(file) && /\.(ts|sql)$/.test(file)
  // Migrations keep their text, because it is part of what an instance has applied.
  const isPlain = /\.tsx?$/.test(file) && PRODUCTION.test(file) && file !== "scripts/check-words.ts"
  if (!saysVisit && !isPlain) continue
  const lines = (await Bun.file(file).text()).split("\n")
  for (const [index, line] of lines.entries()) {
    if (saysVisit && /session/i.test(line)) faults.push(`${file}:${index + 1}: say visit; a session is a sign-in`)
    if (!isPlain) continue
    for (const [pattern, instead] of REPLACED)
      if (pattern.test(line)) faults.push(`${file}:${index + 1}: "${line.match(pattern)![0]}" is replaced by ${instead}`)
  }
}
for (const fault of faults.sort()) console.error(fault)
process.exit(faults.length === 0 ? 0 : 1)
