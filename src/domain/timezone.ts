/** `Intl` accepts offsets too, and other runtimes accept more: what is a zone is said here. */
const ZONE = /^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/

/** The IANA zone with its proper case, aliases kept (`europe/kiev` is `Europe/Kiev`); undefined for anything else. */
export function parseTimezone(text: string): string | undefined {
  if (!ZONE.test(text)) return undefined
  try {
    return new Intl.DateTimeFormat("en", { timeZone: text }).resolvedOptions().timeZone
  } catch {
    return undefined
  }
}
