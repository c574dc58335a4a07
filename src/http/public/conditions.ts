import { type Expected, versionsIn } from "../../domain/version.ts"

/** The versions that a request takes a thing to have. */
export const expectedVersions = (request: Request): Expected => versionsIn(request.headers.get("if-match"))
