package classify

import (
	"strings"
	"testing"

	"github.com/agent-reviewer/reviewer/engine"
	"github.com/agent-reviewer/reviewer/engine/classify/shell"
)

// What a command changes elsewhere: the verb and the object of each effect on
// a service.
func TestChangesElsewhere(t *testing.T) {
	for src, want := range map[string]string{
		// opened to everyone
		"aws s3api put-bucket-acl --bucket b --acl public-read-write":                                                                               "expose bucket-acl",
		"aws s3api put-bucket-acl --bucket b --acl=private":                                                                                         "send",
		"aws s3api put-public-access-block --bucket b --public-access-block-configuration BlockPublicAcls=false,IgnorePublicAcls=true":              "expose public-access-block",
		"aws s3api put-public-access-block --bucket b --public-access-block-configuration BlockPublicAcls=true":                                     "send",
		"aws lambda create-function-url-config --function-name f --auth-type NONE":                                                                  "expose function-url-config",
		"aws lambda add-permission --function-name f --statement-id s --action a --principal '*'":                                                   "expose permission",
		"aws lambda add-permission --function-name f --statement-id s --action a --principal s3.amazonaws.com":                                      "send",
		"aws ec2 authorize-security-group-ingress --ip-permissions 'IpProtocol=tcp,IpRanges=[{CidrIp=0.0.0.0/0}]'":                                  "expose security-group-ingress",
		"aws ec2 modify-image-attribute --image-id i --launch-permission 'Add=[{Group=all}]'":                                                       "expose image-attribute",
		"aws ec2 modify-image-attribute --image-id i --launch-permission 'Add=[{UserId=1}]'":                                                        "send",
		"aws rds modify-db-instance --db-instance-identifier d --publicly-accessible":                                                               "expose db-instance",
		"aws rds modify-db-instance --db-instance-identifier d --no-publicly-accessible":                                                            "send",
		`aws sns set-topic-attributes --policy '{"Statement":[{"Effect":"Allow","Principal":{"AWS":["*"]},"Action":"SNS:Publish"}]}'`:               "expose topic-attribute",
		`aws s3api put-bucket-policy --policy '{"Statement":{"Effect":"Allow","Principal":"*","Action":"s3:*","Condition":{"Bool":{"a":"true"}}}}'`: "send",
		`echo '{"Statement":{"Effect":"Allow","Principal":"*"}}' > p.json; aws s3api put-bucket-policy --policy file://p.json`:                      "expose bucket-policy, grant policy",
		"gcloud compute firewall-rules create web --allow tcp:22 --source-ranges 0.0.0.0/0":                                                         "expose firewall-rule",
		"gcloud run deploy web --allow-unauthenticated":                                                                                             "expose run",
		"gcloud storage buckets add-iam-policy-binding gs://b --member=allUsers --role=roles/storage.objectViewer":                                  "expose iam-policy-binding",
		"az storage container set-permission -n c --public-access blob":                                                                             "expose permission",
		"az storage account update -n a --allow-blob-public-access false":                                                                           "send",
		"gsutil acl ch -u AllUsers:R gs://b/x":                                                                                                      "expose bucket",
		"mc anonymous set public play/b":                                                                                                            "expose bucket",
		"gsutil acl ch -u ana@example.com:R gs://b/x":                                                                                               "fetch, send",
		"gh repo edit ana/shop --visibility=public":                                                                                                 "expose repo",
		"aws s3 sync dist s3://site --acl public-read":                                                                                              "send, expose object",
		`curl -X PATCH https://api.github.com/repos/ana/shop -d '{"visibility":"public"}'`:                                                          "expose repository",
		"gh api -X PATCH repos/ana/shop -f visibility=private":                                                                                      "send",
		// rights
		"aws iam attach-role-policy --role-name r --policy-arn arn:aws:iam::aws:policy/PowerUserAccess":                                                 "grant poweruseraccess",
		"aws iam add-user-to-group --user-name u --group-name admins":                                                                                   "grant admins",
		`aws iam create-policy-version --policy-document '{"Statement":[{"Effect":"Allow","Action":["s3:Get*","*"],"Resource":"*"}]}' --set-as-default`: "grant everything",
		"aws iam update-assume-role-policy --role-name r --policy-document file://p.json":                                                               "grant assume-role-policy",
		"az role assignment create --role 'User Access Administrator' --assignee x":                                                                     "grant user-access-administrator",
		"gcloud projects add-iam-policy-binding p --member=user:a@example.com --role=roles/storage.objectAdmin":                                         "grant storage-objectadmin",
		"gcloud projects add-iam-policy-binding p --member=user:a@example.com --role=$ROLE":                                                             "grant",
		"oc adm policy add-cluster-role-to-user cluster-admin ana":                                                                                      "grant cluster-admin",
		"kubectl create clusterrolebinding b --clusterrole cluster-admin --user a":                                                                      "grant cluster-admin",
		"gh pr merge 7 --admin": "grant merge-without-review",
		"gh ssh-key add k.pub":  "grant ssh-key",
		"curl -X POST https://gitlab.example.dev/api/v4/projects/7/deploy_keys -d key=x": "grant deploy-key",
		"gh api -X POST repos/ana/shop/actions/runners/registration-token":               "grant runner",
		"gh api repos/ana/shop/keys": "fetch",
		// what protects and records
		"aws s3api put-bucket-versioning --bucket b --versioning-configuration Status=Suspended":                                        "disable versioning",
		"aws dynamodb update-table --table-name t --no-deletion-protection-enabled":                                                     "disable deletion-protection-enabled",
		"aws cloudformation update-termination-protection --no-enable-termination-protection --stack-name s":                            "disable termination-protection",
		"gcloud sql instances patch d --no-backup":                                                                                      "disable backup",
		"gcloud sql instances patch d --backup":                                                                                         "send",
		"gcloud storage buckets update gs://b --no-versioning":                                                                          "disable versioning",
		"aws dynamodb update-continuous-backups --table-name t --point-in-time-recovery-specification PointInTimeRecoveryEnabled=False": "disable point-in-time-recovery",
		"aws configservice stop-configuration-recorder --configuration-recorder-name r":                                                 "disable configuration-recorder",
		// names, money, people
		"gcloud dns record-sets transaction add 203.0.113.7 --name=a.example.com --ttl=300 --type=A --zone=z": "send record",
		"az network dns record-set a add-record -g g -z z -n www -a 203.0.113.7":                              "send record",
		"aws route53 test-dns-answer --hosted-zone-id Z --record-name a":                                      "send",
		"printf 'update add a.example.com 300 A 203.0.113.7\nsend\n' | nsupdate":                              "send record",
		"stripe refunds create --charge c":                                                                    "send refund",
		"stripe refunds retrieve r":                                                                           "send",
		"twilio api:core:messages:create --to a --body b":                                                     "send message",
		"mail -s x ana@example.com < report.txt":                                                              "send mail",
		// words that name things here, and operations elsewhere
		"vault auth disable github":                      "disable auth",
		"velero restore delete r1":                       "delete restore",
		"az monitor log-analytics workspace delete -n w": "delete workspace",
		"gcloud auth print-access-token":                 "fetch",
		"gcloud logging logs delete projects/p/logs/l":   "delete log",
		// stacks
		"terraform apply -auto-approve":  "send stack",
		"pulumi destroy":                 "delete stack",
		"kubectl delete po/web":          "delete pod",
		"kubectl delete namespaces shop": "delete namespace",
	} {
		if got := changesElsewhere(src); got != want {
			t.Errorf("%s\n  got  %s\n  want %s", src, got, want)
		}
	}
}

func changesElsewhere(src string) string {
	var out []string
	for _, e := range shell.Interpret(src, shellCaseInput()).Effects {
		if e.Kind == engine.EffectNetwork {
			out = append(out, strings.TrimSpace(e.Verb+" "+e.Object))
		}
	}
	return strings.Join(out, ", ")
}

// Reports whether a stack is changed without review: a saved plan counts as reviewed.
func TestUnseenChanges(t *testing.T) {
	for src, want := range map[string]bool{
		"terraform apply -auto-approve":            true,
		"terraform apply -auto-approve shop.plan":  false,
		"terraform apply":                          false,
		"pulumi up -y":                             true,
		"cdk deploy --require-approval never":      true,
		"cdk deploy --require-approval=broadening": false,
		"sam deploy --no-confirm-changeset":        true,
		"terragrunt run-all apply --auto-approve":  true,
	} {
		unseen := false
		for _, e := range shell.Interpret(src, shellCaseInput()).Effects {
			unseen = unseen || e.Object == "stack" && e.Forced
		}
		if unseen != want {
			t.Errorf("%s: %t, want %t", src, unseen, want)
		}
	}
}
