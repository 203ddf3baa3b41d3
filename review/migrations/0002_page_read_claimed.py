from django.db import migrations, models


class Migration(migrations.Migration):

    dependencies = [
        ("review", "0001_initial"),
    ]

    operations = [
        migrations.AddIndex(
            model_name="pageread",
            index=models.Index(
                condition=models.Q(("state", "claimed")), fields=["claimed_at"], name="page_read_claimed"
            ),
        ),
    ]
