import type { AnyElysia } from "elysia"

/** Returns a function that lists the methods of a path, because Elysia answers 404 instead of 405. */
export function methodTable(app: AnyElysia): (path: string) => readonly string[] {
  const methods = new Map<string, string[]>()
  for (const { path, method } of app.routes)
    methods.set(path, [...(methods.get(path) ?? []), ...(method === "GET" ? ["GET", "HEAD"] : [method])])
  const table = [...methods].map(([path, names]) => ({ pattern: toPattern(path), names }))
  return (path) => [...new Set(table.filter(({ pattern }) => pattern.test(path)).flatMap(({ names }) => names))]
}

const toPattern = (path: string): RegExp =>
  new RegExp(
    `^${path
      .split("/")
      .map((part) => (part.startsWith(":") ? "[^/]+" : part === "*" ? ".*" : RegExp.escape(part)))
      .join("/")}/?$`,
  )
