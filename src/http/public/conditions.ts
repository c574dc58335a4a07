import { type Expected, versionsIn } from "../../domain/version.ts"

/** Returns the versions that a request expects in its header `If-Match`. */
export const expectedVersions = (request: Request): Expected => versionsIn(request.headers.get("if-match"))
