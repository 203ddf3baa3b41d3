from importlib import import_module

from django.apps import apps
from django.db import connection

from review.models import Rollout, ShadowRead
from tests import factories
from tests.conftest import Cast


def test_shadow_reads_on_their_way_are_on_their_way_after_an_upgrade(cast: Cast) -> None:
    run = factories.make_routed(cast.document_type).runs.get()
    rollout = Rollout.objects.create(document_type=cast.document_type, engine_version=run.engine_version, salt="s")
    shadow = ShadowRead.objects.create(rollout=rollout, document=run.document, champion_run=run)
    migration = import_module("review.migrations.0019_shadow_reads_as_work")
    for old, new in [("claimed", "running"), ("dropped", "cancelled"), ("done", "done")]:
        ShadowRead.objects.update(state=old)
        migration.say_as_all_work_does(apps, connection.schema_editor())
        shadow.refresh_from_db()
        assert shadow.state == new
        migration.say_as_before(apps, connection.schema_editor())
        shadow.refresh_from_db()
        assert shadow.state == old
