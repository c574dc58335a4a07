import { Type as t } from "@sinclair/typebox"
import { AnnotationInput } from "../../../domain/annotation.ts"
import { ScopeInput } from "../../../domain/segment.ts"
import type { Annotations } from "../../../services/definitions/annotations.ts"
import type { PrivateRouter } from "../../../web/router.ts"
import { AnnotationResponse, toAnnotationResponse } from "../../public/shown.ts"
import { Id } from "../tagged.ts"
import { privateThingRoutes, type ThingRoutesOptions } from "./things.ts"

export interface AnnotationRoutesOptions extends ThingRoutesOptions {
  annotations: Annotations
}

const SCOPED = { scope: ScopeInput, owner: t.Union([Id, t.Null()]) }

/** Creates the routes for annotations: those shared on the site and personal ones of the caller. */
export const privateAnnotationRoutes = (router: PrivateRouter, { annotations, ...options }: AnnotationRoutesOptions) =>
  privateThingRoutes(router, options, {
    path: "annotations",
    noun: "annotation",
    write: "site:read",
    things: (viewer) => annotations.of(viewer),
    input: t.Object({ ...AnnotationInput.properties, scope: t.Optional(ScopeInput) }, { title: "ScopedAnnotationInput" }),
    shown: t.Object({ ...AnnotationResponse.properties, ...SCOPED }, { title: "ScopedAnnotation" }),
    show: (annotation, site) => ({
      ...toAnnotationResponse(annotation, site),
      scope: annotation.scope,
      owner: annotation.owner_user_id,
    }),
    label: ({ text }) => text,
    listWithin: (viewer, site, days, slice) => annotations.of(viewer).listWithin(site, days, slice),
  })
