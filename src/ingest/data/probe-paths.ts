/** What scanners ask for and no page has, in lower case (metrics.md 19.1). */

/** Anywhere in a path: hidden files, left-over programs, ways out of the folder. */
export const PROBE_PARTS =
  /\/\.(?:env|ds_store)(?![a-z0-9-])|\/\.(?:git|aws|ssh|svn)\/|\/vendor\/phpunit\/|\/(?:phpinfo|wp-config)\.php(?![a-z0-9-])|\.\.(?:\/|%2f)/

/** Only at its start: a manual may well have a page `/docs/server-status`. */
export const PROBE_STARTS = /^\/(?:cgi-bin\/|actuator\/|server-status(?![a-z0-9-]))/

export const PROBE_ENDINGS: readonly string[] = [".sql", ".sql.gz", ".bak", ".php~", ".swp"]
